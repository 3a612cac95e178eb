import { TextDecoder } from 'node:util'

/** Maximum number of encoded words of a text that are decoded; a subject of 1,000 characters has 15. */
const MAX_WORDS = 500
const WORD = /=\?([^?\s]{1,75})\?([bq])\?([^?]*)\?=/gi

/** A text with its encoded words decoded (RFC 2047); white space between two of them is none of the text (§6.2). */
export function decodeWords(text: string): string {
  if (!text.includes('=?')) return text
  const pieces: string[] = []
  const decoders: Decoders = new Map()
  let words: { charset: string; octets: Buffer[] } | undefined
  let at = 0
  let left = MAX_WORDS
  // A character may be cut between two words of one character set: they are decoded as one.
  const endWords = (): void => {
    if (words) pieces.push(decoded(Buffer.concat(words.octets), words.charset, decoders))
    words = undefined
  }
  for (const { 0: all, 1: label = '', 2: encoding, 3: content = '', index } of text.matchAll(WORD)) {
    if (left-- === 0) break
    const charset = label.split('*', 1)[0]!.toLowerCase() // RFC 2231 §5: a language follows
    const between = text.slice(at, index)
    if (!words || !isBlank(between)) {
      endWords()
      pieces.push(between)
    } else if (words.charset !== charset) endWords()
    words ??= { charset, octets: [] }
    words.octets.push(encoding!.toLowerCase() === 'b' ? Buffer.from(content, 'base64') : wordOctets(content))
    at = index + all.length
  }
  endWords()
  pieces.push(text.slice(at))
  return pieces.join('')
}

const isBlank = (text: string): boolean => text.trim() === ''

/** The encoding `Q` (RFC 2047 §4.2). */
function wordOctets(text: string): Buffer {
  const octets = Buffer.from(text, 'utf8')
  let size = 0
  for (let i = 0; i < octets.length; i++) {
    const octet = octets[i]!
    const value = octet === 0x3d ? hexOf(octets[i + 1]) * 16 + hexOf(octets[i + 2]) : Number.NaN
    if (value >= 0) i += 2
    octets[size++] = value >= 0 ? value : octet === 0x5f ? 0x20 : octet
  }
  return octets.subarray(0, size)
}

/** The value of a hexadecimal digit, NaN for anything else. */
export function hexOf(octet = 0): number {
  if (octet >= 0x30 && octet <= 0x39) return octet - 0x30
  const letter = octet | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : Number.NaN
}

type Decoders = Map<string, TextDecoder>

/** Octets in a character set as mail names it; one that nobody knows is read as windows-1252. */
export function decoded(octets: Uint8Array, charset: string, decoders: Decoders = new Map()): string {
  const decoder = decoders.get(charset) ?? decoderOf(charset)
  decoders.set(charset, decoder)
  return decoder.decode(octets)
}

/** Code pages that the Encoding standard has under another name. */
const CODE_PAGES: Readonly<Record<string, string>> = { 932: 'shift_jis', 936: 'gbk', 949: 'euc-kr', 950: 'big5' }

function decoderOf(charset: string): TextDecoder {
  const page = CODE_PAGES[/^(?:cp|ms|windows-|x-windows-)(\d{3})$/.exec(charset)?.[1] ?? '']
  for (const label of [page ?? charset, charset.replace(/^x-/, '')]) {
    try {
      return new TextDecoder(label)
    } catch {} // no label of the Encoding standard
  }
  return new TextDecoder('windows-1252')
}
