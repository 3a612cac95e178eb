import { type Args, list } from '../check.ts'

/** Maximum number of list items shown in a sentence. */
const MAX_SHOWN = 15

/** The first 15 items of a list, and the number of further ones. */
export function some(items: Args[string] | undefined): string {
  if (!Array.isArray(items) || items.length <= MAX_SHOWN) return list(items)
  return `${list(items.slice(0, MAX_SHOWN))} and ${items.length - MAX_SHOWN} more`
}

/** The content of the text, as a sentence of its own. */
export const found = (slips: Args[string] | undefined): string =>
  Array.isArray(slips) && slips.length > 0 ? ` Found: ${slips.join('; ')}.` : ''

export const count = (value: Args[string] | undefined): string => Number(value).toLocaleString('en-US')

/** Who passes, by family. A few IPv4 addresses beside wide IPv6 networks are omitted. */
export function passing(ipv4: number, ipv6: boolean): string {
  if (ipv6 && ipv4 < 2 ** 24) return 'most of IPv6'
  if (ipv6 && ipv4 >= 2 ** 32) return 'every address'
  return `${count(ipv4)} IPv4 addresses${ipv6 ? ' and IPv6 networks' : ''}`
}

/** If no record can be computed. */
export const UNOFFERED =
  'Publish the SPF record that your mail provider gives you, with a term for every other service that sends mail for the domain.'
