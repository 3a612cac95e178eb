/** Bytes of a reply that are looked at: more says nothing new, and bounds the work. */
const LOOKED_AT = 4_096

/**
 * A reply's text in the form the table of replies is matched against: at most 4 KiB, lower case, one space for any white space, no accents on Latin
 * letters, plain apostrophes, and without mail addresses, so that nothing in an address is taken for the server's words.
 */
export function foldReply(text: string): string {
  return withoutAddresses(text.slice(0, LOOKED_AT))
    .normalize('NFD')
    .replace(/([A-Za-z])[\u0300-\u036f]{1,4}/g, '$1')
    .normalize('NFC')
    .toLowerCase()
    .replace(/[\u2018\u2019\u00b4`]/g, "'")
    .replace(/\s+/g, ' ')
    .trim()
}

/** `<user@host>` becomes `<>`; a bare `user@host` goes, and what hangs on it (`user@host:blocked`) stays. */
const withoutAddresses = (text: string): string =>
  text
    .replace(/<[^<>]*>/g, (path) => (path.includes('@') ? '<>' : path))
    .split(/(?<=\s)/)
    .map((word) => (word.includes('@') ? word.replace(/^(["'([{<]*)[^@]*@[\w.-]*/, '$1') : word))
    .join('')
