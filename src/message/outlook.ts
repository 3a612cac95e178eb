import { once } from '../base/share-work.ts'
import { loadTables } from '../names/tables.ts'

/** It is loaded with the first file: few are of Outlook. */
const cfb = once(() => loadTables<typeof import('cfb')>('cfb'))

/** PidTagTransportMessageHeaders as Unicode and as 8-bit text ([MS-OXPROPS] §2.1035, [MS-OXMSG] §2.1.3). */
const UNICODE = '/__substg1.0_007D001F'
const OCTETS = '/__substg1.0_007D001E'
/** A stream that every item of Outlook has ([MS-OXMSG] §2.4). */
const PROPERTIES = '/__properties_version1.0'

/**
 * The header with which an Outlook item (`.msg`, a compound file: [MS-CFB]) was delivered. Its text is what Outlook
 * keeps: only characters were decoded. `no_header`: an item that was not received; `other`: another or a damaged
 * compound file. Throws AppError if the library cannot be loaded, which does not bound its work on a file whose sectors
 * form a circle: call it in the lane.
 */
export function transportHeader(
  octets: Buffer,
): { readonly text: Buffer } | { readonly is: 'outlook' | 'outlook_damaged' | 'office' } {
  const { parse, find } = cfb()
  try {
    const file = parse(octets)
    const contentOf = (path: string): Buffer | undefined => {
      const content = find(file, path)?.content
      return content === undefined ? undefined : Buffer.from(content)
    }
    const wide = contentOf(UNICODE)
    const header = wide ? Buffer.from(wide.toString('utf16le').replaceAll('\0', '')) : contentOf(OCTETS)
    if (header && header.length > 0) return { text: header }
    return { is: contentOf(PROPERTIES) ? 'outlook' : 'office' }
  } catch {
    return { is: 'outlook_damaged' }
  }
}
