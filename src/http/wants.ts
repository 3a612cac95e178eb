/** Whether a request asks for HTML before JSON (Accept, RFC 9110 §12.5.1). A client that takes anything is no browser. */
export const wantsHtml = (accept: string | undefined): boolean => {
  const html = qualityOf(accept, 'text/html')
  return html > 0 && html > qualityOf(accept, 'application/json')
}

/** Whether a request asks for server-sent events by name. */
export const wantsEvents = (accept: string | undefined): boolean => qualityOf(accept, 'text/event-stream') > 0

/** The quality of a type that is named itself; 0 where it is not. */
function qualityOf(accept = '', type: string): number {
  for (const item of accept.slice(0, 1_000).toLowerCase().split(',')) {
    const [name, ...parameters] = item.split(';').map((part) => part.trim())
    if (name !== type) continue
    const quality = parameters.find((part) => /^q\s*=/.test(part))?.replace(/^q\s*=\s*/, '')
    return quality === undefined ? 1 : Number(quality) || 0
  }
  return 0
}
