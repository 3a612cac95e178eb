/** The forms of a page by their media types. */
const FORMS: Readonly<Record<string, string>> = {
  'application/json': 'json',
  'text/html': 'html',
  'application/xhtml+xml': 'html',
  'text/markdown': 'markdown',
}
/** Maximum number of characters of an Accept field. */
const MAX_LENGTH = 1_000
/** Maximum number of ranges of an Accept field. */
const MAX_RANGES = 30

/**
 * The form that an Accept field requests by name with the highest weight (RFC 9110 §12.5.1), the first of equals;
 * undefined if it names none.
 */
export function preferredForm(accept: string | undefined): string | undefined {
  if (accept === undefined || accept.length > MAX_LENGTH) return undefined
  const named = accept.split(',', MAX_RANGES).flatMap((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const form = Object.hasOwn(FORMS, type) ? FORMS[type] : undefined
    const weight = Number(parameters.find((one) => one.startsWith('q='))?.slice(2) ?? 1)
    return form !== undefined && weight > 0 ? [{ form, weight }] : []
  })
  return named.toSorted((a, b) => b.weight - a.weight)[0]?.form
}

/** Whether a request prefers HTML to JSON. A client that accepts anything is not a browser. */
export const wantsHtml = (accept: string | undefined): boolean => preferredForm(accept) === 'html'

/** Whether a request names server-sent events. */
export const wantsEvents = (accept: string | undefined): boolean =>
  /^\s{0,9}text\/event-stream\s{0,9}(?:[,;]|$)/i.test(accept ?? '')
