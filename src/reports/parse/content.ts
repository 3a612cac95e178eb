/** What octets are, judged by their beginning: names and media types of reports are often wrong. */
export type Content = 'gzip' | 'zip' | 'xml' | 'json' | 'mbox' | 'message' | 'empty' | 'other'

/** Number of octets that {@link contentOf} needs. */
export const HEAD_OCTETS = 1_024

/** Judges the first {@link HEAD_OCTETS} octets of an input. */
export function contentOf(head: Uint8Array): Content {
  if (head[0] === 0x1f && head[1] === 0x8b) return 'gzip' // RFC 1952 §2.3.1
  if (head[0] === 0x50 && head[1] === 0x4b && ((head[2] === 3 && head[3] === 4) || (head[2] === 5 && head[3] === 6)))
    return 'zip' // APPNOTE 4.3.7; an empty archive begins with its end
  const text = new TextDecoder(encodingOf(head)).decode(head).trimStart()
  if (text === '') return 'empty'
  if (text.startsWith('<')) return 'xml'
  if (text.startsWith('{')) return 'json'
  if (/^From \S/.test(text)) return 'mbox' // RFC 4155
  return /^[!-9;-~]{1,76}:(?:[ \t]|\r?\n)/.test(text) ? 'message' : 'other' // RFC 5322 §2.2
}

/**
 * The encoding of XML or JSON, as a label of the Encoding standard: a byte order mark, else what zero octets tell of
 * UTF-16, else the XML declaration, else UTF-8 (XML 1.0 appendix F).
 */
export function encodingOf(head: Uint8Array): string {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be'
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return 'utf-8'
  if (head.length > 3 && head[0] !== 0 && head[1] === 0) return 'utf-16le'
  if (head.length > 3 && head[0] === 0 && head[1] !== 0) return 'utf-16be'
  const declared = /^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z][\w.-]{0,40})["']/.exec(
    Buffer.from(head.subarray(0, 256)).toString('latin1'),
  )?.[1]
  if (declared === undefined || /^utf-?16/i.test(declared)) return 'utf-8'
  try {
    return new TextDecoder(declared).encoding
  } catch {
    return 'utf-8' // a label that nobody knows: most reports with one are ASCII
  }
}
