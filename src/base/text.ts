/** `text` without control characters (C0, DEL, C1, and the bidirectional and line separators that reorder or break what is shown), cut at `maxLength` characters. For text from outside. */
export function printable(text: string, maxLength = 512): string {
  const cut = text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text
  return cut.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, ' ')
}

const HTML = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' } as const

/** Text made safe as HTML content and as a quoted attribute value. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (c) => HTML[c as keyof typeof HTML])
