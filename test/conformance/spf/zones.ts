import { canonicalName } from '../../../src/names/domain.ts'
import { ip, reverseName } from '../../../src/names/ip.ts'
import type { LabZone } from '../../lab/dns.ts'

type Entry = 'TIMEOUT' | Readonly<Record<string, unknown>>
type Node = Record<string, unknown[] | string>

/**
 * The zone data of an OpenSPF scenario. `SPF` entries serve as TXT unless the name has its own `TXT`; `TXT: NONE` is no
 * TXT at all; a bare `TIMEOUT` is the answer for every type that the name does not have.
 */
export function openSpfZone(zonedata: Readonly<Record<string, readonly Entry[]>>): LabZone {
  const zone: Record<string, Node> = {}
  for (const [name, entries] of Object.entries(zonedata)) zone[canonicalName(name)] = openSpfNode(entries)
  return zone as LabZone
}

function openSpfNode(entries: readonly Entry[]): Node {
  const node: Node = {}
  const add = (type: string, value: unknown): void => {
    const list = node[type]
    if (Array.isArray(list)) list.push(value)
    else node[type] = [value]
  }
  const hasTxt = entries.some((entry) => typeof entry === 'object' && 'TXT' in entry)
  for (const entry of entries) {
    if (entry === 'TIMEOUT') continue
    for (const [type, value] of Object.entries(entry)) {
      if (type === 'TXT' && value !== 'NONE') add('TXT', joined(value))
      if (type === 'SPF' && !hasTxt) add('TXT', joined(value))
      if (type !== 'TXT' && type !== 'SPF') add(type, value)
    }
  }
  if (entries.includes('TIMEOUT'))
    for (const type of ['A', 'AAAA', 'MX', 'PTR', 'TXT']) if (node[type] === undefined) node[type] = 'TIMEOUT'
  return node
}

const joined = (value: unknown): string => (Array.isArray(value) ? value.join('') : String(value))

type MailAuthRecord = { readonly type: string; readonly data: string }

/**
 * The records of a mail-auth case: MX entries are addresses, here hosts named by them; a name with `_dns_error` fails.
 */
export function mailAuthZone(records: readonly MailAuthRecord[]): LabZone {
  const zone: Record<string, Node> = {}
  const add = (name: string, type: string, value: unknown): void => {
    const node = (zone[canonicalName(name)] ??= {})
    const list = node[type]
    if (Array.isArray(list)) list.push(value)
    else node[type] = [value]
  }
  for (const { type, data } of records) {
    const space = data.indexOf(' ')
    const [name, value] = [data.slice(0, space), data.slice(space + 1)]
    const values = value.split(',').map((text) => text.trim())
    if (type === 'SPF' || type === 'EXP') add(name, 'TXT', value)
    if (type === 'A' || type === 'AAAA') for (const address of values) add(name, type, address)
    if (type === 'PTR') for (const target of values) add(reverseName(ip(name)), 'PTR', target)
    if (type === 'MX')
      for (const address of values) {
        add(name, 'MX', [10, address])
        add(address, address.includes(':') ? 'AAAA' : 'A', address)
      }
  }
  for (const name of ['_dns_error.org', '_dns_error.test.org']) add(name, 'TXT', undefined)
  for (const name of ['_dns_error.org', '_dns_error.test.org']) zone[name] = { TXT: 'SERVFAIL' }
  return zone as LabZone
}
