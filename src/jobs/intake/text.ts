import { type Octets, peek } from './octets.ts'

/** Number of octets used to detect the encoding. */
const SAMPLE = 64 * 1024

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'

/**
 * The text of a list in pieces, without a byte order mark. The encoding is detected by the mark or by NULs at every second octet (UTF-16); else it is UTF-8 if
 * the sample is valid UTF-8, else Latin-1 (windows-1252, which includes it). Octets that cannot be decoded later become U+FFFD.
 */
export async function* listText(octets: Octets): AsyncIterable<string> {
  const { first, rest } = await peek(octets, SAMPLE)
  const decoder = new TextDecoder(encodingOf(first.subarray(0, SAMPLE)))
  for await (const chunk of rest) {
    const text = decoder.decode(chunk, { stream: true })
    if (text !== '') yield text
  }
  const end = decoder.decode()
  if (end !== '') yield end
}

/** The encoding that the beginning of a file indicates. */
export function encodingOf(sample: Uint8Array): Encoding {
  if (sample[0] === 0xff && sample[1] === 0xfe) return 'utf-16le'
  if (sample[0] === 0xfe && sample[1] === 0xff) return 'utf-16be'
  const wide = wideOf(sample)
  if (wide) return wide
  return isUtf8(sample) ? 'utf-8' : 'windows-1252'
}

/** UTF-16 without a byte order mark: text in Latin letters has a NUL at every second octet. */
function wideOf(sample: Uint8Array): Encoding | undefined {
  const length = Math.min(sample.length, 1_024) & ~1
  if (length < 4) return undefined
  let even = 0
  let odd = 0
  for (let i = 0; i < length; i += 2) {
    if (sample[i] === 0) even++
    if (sample[i + 1] === 0) odd++
  }
  const most = length / 2
  if (odd > most * 0.7 && even === 0) return 'utf-16le'
  return even > most * 0.7 && odd === 0 ? 'utf-16be' : undefined
}

function isUtf8(sample: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(sample, { stream: true }) // the last character may be incomplete
    return true
  } catch {
    return false
  }
}
