import type { MxHost } from '../../answers/checks.ts'
import type { GeoAnswer } from '../../answers/geo.ts'
import type { AddressLists } from '../../answers/report.ts'
import { type Block, code, codes, type Inline, type Line, text } from '../block.ts'
import { wordsFor } from '../words.ts'
import type { Answer } from './answer.ts'

const KINDS: Readonly<Record<string, string>> = {
  none: 'The domain has no mail server, and does not say that it takes no mail.',
  null: 'The domain declares that it takes no mail (null MX, RFC 7505).',
  implicit: 'There is no MX record: mail goes to the address of the domain itself.',
}

/** Where mail goes: each host with its addresses, their names, their place and network, and what the lists say. */
export function hostBlocks(answer: Answer): readonly Block[] {
  const words = wordsFor(KINDS, answer.mx_kind ?? '')
  const rows = answer.mx.flatMap((host) => rowsOf(host, answer))
  return [
    ...(words === undefined ? [] : [text(words)]),
    ...(rows.length === 0
      ? []
      : [
          {
            kind: 'table',
            table: {
              caption: 'Mail servers and their addresses',
              head: [
                'Preference',
                'Host',
                'Address',
                'PTR',
                ...(answer.blacklists ? ['Place and network', 'Blacklists'] : []),
              ],
              rows,
            },
          } as const,
        ]),
  ]
}

function rowsOf(host: MxHost, answer: Answer): Line[][] {
  const start: Line[] = [[String(host.priority)], [code(host.host)]]
  const withLists = answer.blacklists !== undefined
  if (host.addresses.length === 0)
    return [
      [...start, [{ mark: 'open', text: host.reason ?? 'no address' }], ['–'], ...(withLists ? [['–'], ['–']] : [])],
    ]
  return host.addresses.map((address) => {
    const lists = answer.blacklists?.find(({ ip }) => ip === address.address)
    return [
      ...start,
      [code(address.address)],
      ptrLine(address.ptr, address.forward_confirmed),
      ...(withLists ? [placeLine(lists?.geo), lists ? [listedOn(lists)] : ['not asked']] : []),
    ]
  })
}

function ptrLine(names: readonly string[], confirmed: boolean | null): Line {
  const state: Inline =
    confirmed === true
      ? { mark: 'good', text: 'leads back' }
      : confirmed === false
        ? { mark: 'bad', text: names.length === 0 ? 'no name' : 'does not lead back' }
        : { mark: 'open', text: 'could not be told' }
  return names.length === 0 ? [state] : [...codes(names.slice(0, 5)), ' ', state]
}

/** Place and network of an address, of what is known. */
export function placeLine(geo: GeoAnswer | undefined): Line {
  if (!geo) return ['–']
  if (geo.bogon !== null) return [`no address of the internet (${geo.bogon})`]
  const place = [geo.city, geo.country_name].filter((part) => part !== null)
  const network = [geo.asn === null ? '' : `AS${geo.asn}`, geo.as_org ?? ''].filter((part) => part !== '')
  const words = [place.join(', '), network.join(' ')].filter((part) => part !== '')
  return [words.length === 0 ? 'not known' : words.join(' · ')]
}

/** What the lists say of an address, in a few words. */
export const listedOn = ({ listed, answered, total, verdict }: AddressLists): Inline =>
  listed > 0
    ? { mark: verdict === 'listed' ? 'bad' : 'open', text: `on ${listed} of ${answered} that answered` }
    : answered === 0
      ? { mark: 'open', text: 'no list answered' }
      : { mark: 'good', text: answered === total ? `on none of ${total}` : `on none of ${answered} that answered` }
