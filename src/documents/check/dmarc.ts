import type { Destination, DmarcFields } from '../../answers/checks.ts'
import { type Block, code, type Inline, type Line } from '../block.ts'

type Dmarc = Omit<DmarcFields, 'status' | 'reason'>

/** The DMARC record and its meaning: the policies, and the destinations of reports. */
export function dmarcBlocks(fields: Dmarc & { readonly domain?: string | undefined }): Block[] {
  const { record, valid } = fields
  return [
    ...(record === undefined ? [] : [{ kind: 'seen', label: 'Record', text: record } as const]),
    ...(valid ? [{ kind: 'facts', rows: factsOf(fields) } as const] : []),
  ]
}

function factsOf(fields: Dmarc & { readonly domain?: string | undefined }): (readonly [string, Line])[] {
  const { policy, effective_policy, subdomain_policy, np, inherited, domain, testing, pct, psd, rua, ruf } = fields
  return [
    ...(inherited && domain !== undefined ? [['Inherited from', [code(domain)]] as const] : []),
    ['Policy', [policyOf(policy)]],
    ...(effective_policy !== policy ? [['In effect here', [policyOf(effective_policy)]] as const] : []),
    ['Subdomains', [policyOf(subdomain_policy)]],
    ['Names that do not exist', [policyOf(np)]],
    ...(testing ? [['Test mode', ['yes (t=y): the policy is not applied']] as const] : []),
    ...(pct === undefined ? [] : [['Share', [`pct=${pct}`]] as const]),
    ...(psd === 'u' || psd === '' ? [] : [['Public suffix', [`psd=${psd}`]] as const]),
    ['Aggregate reports', destinations(rua)],
    ...(ruf.length === 0 ? [] : [['Failure reports', destinations(ruf)] as const]),
  ]
}

const policyOf = (policy: string): string => (policy === '' ? '–' : policy)

const destinations = (all: readonly Destination[]): Line =>
  all.length === 0
    ? ['none']
    : all.flatMap(({ uri, authorized, reason }, i): Inline[] => [
        i === 0 ? '' : ', ',
        code(uri),
        ...(authorized === null
          ? []
          : [
              ' ',
              {
                mark: authorized ? 'good' : 'bad',
                text: authorized ? 'has agreed to receive them' : (reason ?? 'has not agreed to receive them'),
              } as const,
            ]),
      ])
