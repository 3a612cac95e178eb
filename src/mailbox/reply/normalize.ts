/** Maximum number of characters of a reply that are read. */
const MAX_READ = 4_096

/**
 * The text for the reply table: at most 4 KiB, lower case, white space as one space, no accents on Latin letters, plain apostrophes, and no mail addresses,
 * so that words in an address are not read as the server's words.
 */
export function normalizeReply(text: string): string {
  return withoutAddresses(text.slice(0, MAX_READ))
    .normalize('NFD')
    .replace(/([A-Za-z])[\u0300-\u036f]{1,4}/g, '$1')
    .normalize('NFC')
    .toLowerCase()
    .replace(/[\u2018\u2019\u00b4`]/g, "'")
    .replace(/\s+/g, ' ')
    .trim()
}

/** `<user@host>` becomes `<>`; a bare `user@host` is removed, and text attached to it (`user@host:blocked`) stays. */
const withoutAddresses = (text: string): string =>
  text
    .replace(/<[^<>]*>/g, (path) => (path.includes('@') ? '<>' : path))
    .split(/(?<=\s)/)
    .map((word) => (word.includes('@') ? word.replace(/^(["'([{<]*)[^@]*@[\w.-]*/, '$1') : word))
    .join('')
