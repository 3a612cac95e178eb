import { type Parsed, parsed, problem } from '../base/parsed.ts'
import { type Cidr, networkOf, parseCidr } from '../names/cidr.ts'
import { bytesOf, type Ip, ipFromBytes, parseIp } from '../names/ip.ts'
import { targetsProblem } from './problems.ts'

/** Maximum number of addresses per call. */
export const MAX_TARGETS = 256

/**
 * The addresses of a bulk request, each once, in order: single addresses, and IPv4 networks up to a /24
 * (`192.0.2.0/24`). More than {@link MAX_TARGETS} and anything else are refused, with the item.
 */
export function expandTargets(texts: readonly string[]): Parsed<readonly Ip[]> {
  if (texts.length === 0) return problem(targetsProblem('none'))
  const tooMany = problem(targetsProblem('too_many', { max: MAX_TARGETS }))
  if (texts.length > MAX_TARGETS) return tooMany
  const found = new Set<Ip>()
  for (const [index, text] of texts.entries()) {
    const addresses = expand(text.trim())
    if (!addresses.ok) return problem(targetsProblem('at', { index: index + 1, why: addresses.problem }))
    for (const address of addresses.value) found.add(address)
    if (found.size > MAX_TARGETS) return tooMany
  }
  return parsed([...found])
}

function expand(text: string): Parsed<readonly Ip[]> {
  if (!text.includes('/')) {
    const address = parseIp(text)
    return address.ok ? parsed([address.value]) : address
  }
  const network = parseCidr(text)
  if (!network.ok) return network
  if (network.value.family === 6) return problem(targetsProblem('ipv6_network', { text }))
  if (network.value.prefix < 24) return problem(targetsProblem('large_network', { text }))
  return parsed(addressesOf(network.value))
}

function addressesOf(network: Cidr): readonly Ip[] {
  const first = parseCidr(networkOf(network.base, network.prefix))
  const bytes = bytesOf(first.ok ? first.value.base : network.base)
  return Array.from({ length: 2 ** (32 - network.prefix) }, (_, i) =>
    ipFromBytes(Uint8Array.of(bytes[0]!, bytes[1]!, bytes[2]!, bytes[3]! + i)),
  )
}
