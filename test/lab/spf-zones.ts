import fc from 'fast-check'
import type { LabNode, LabZone } from './dns.ts'

const spf = (...terms: string[]) => ({ TXT: [['v=spf1', ...terms].join(' ')] })

/**
 * Few names and networks, so that terms meet: some are within others, some names hold nothing, one answers with
 * SERVFAIL.
 */
const NAMES = ['a.example', 'b.example', 'c.example', 'd.example']
const HOSTS = ['h1.example', 'h2.example', 'h3.example', 'void.example', 'mute.example']
export const FOUR = [
  '0.0.0.0',
  '10.0.0.0',
  '10.0.0.1',
  '10.0.0.2',
  '10.0.0.3',
  '10.128.0.0',
  '192.0.2.1',
  '255.255.255.255',
]
export const SIX = ['::', '2001:db8::', '2001:db8::1', '2001:db8::2', '2001:db8:8000::', 'ffff::1']
const PREFIXES_4 = [0, 1, 8, 9, 30, 31, 32]
const PREFIXES_6 = [0, 3, 32, 33, 127, 128]

const of = fc.constantFrom
const dual = fc.oneof(
  fc.constant(''),
  of(...PREFIXES_4).map((n) => `/${n}`),
  of(...PREFIXES_6).map((n) => `//${n}`),
  fc.tuple(of(...PREFIXES_4), of(...PREFIXES_6)).map(([four, six]) => `/${four}//${six}`),
)
const mechanism = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(of(...FOUR), of(...PREFIXES_4)).map(([base, n]) => `ip4:${base}/${n}`) },
  { weight: 2, arbitrary: fc.tuple(of(...SIX), of(...PREFIXES_6)).map(([base, n]) => `ip6:${base}/${n}`) },
  { weight: 3, arbitrary: of(...NAMES, 'none.example').map((name) => `include:${name}`) },
  {
    weight: 3,
    arbitrary: fc.tuple(of('a', 'mx'), of(...HOSTS), dual).map(([kind, name, cidr]) => `${kind}:${name}${cidr}`),
  },
  { weight: 1, arbitrary: fc.tuple(of('a', 'mx'), dual).map(([kind, cidr]) => `${kind}${cidr}`) },
  { weight: 1, arbitrary: of(...HOSTS, '%{d}', '%{o}').map((name) => `exists:${name}`) },
  { weight: 1, arbitrary: fc.constant('all') },
)
const directive = fc
  .tuple(of('', '', '', '+', '-', '~', '?'), mechanism)
  .map(([qualifier, text]) => `${qualifier}${text}`)
const record = fc
  .tuple(
    fc.array(directive, { maxLength: 6 }),
    fc.option(of(...NAMES, 'none.example')),
    of('-all', '~all', '', '', '+all'),
  )
  .map(([terms, redirect, all]) => spf(...terms, ...(redirect ? [`redirect=${redirect}`] : []), all))
const hosts = fc.record({
  A: fc.uniqueArray(of(...FOUR), { maxLength: 2 }),
  AAAA: fc.uniqueArray(of(...SIX), { maxLength: 2 }),
  MX: fc.uniqueArray(of(...HOSTS), { maxLength: 3 }).map((names) => names.map((name, i) => [i, name] as const)),
})
const node = fc.tuple(fc.oneof({ weight: 5, arbitrary: record }, { weight: 1, arbitrary: fc.constant({}) }), hosts)
/** Zones of `a.example` and the names it includes. */
export const spfZones = fc
  .tuple(
    fc.tuple(record, hosts),
    fc.array(node, { minLength: 3, maxLength: 3 }),
    fc.array(hosts, { minLength: 3, maxLength: 3 }),
  )
  .map(([root, others, named]): LabZone => {
    const records = [root, ...others].map(([text, found], i) => [NAMES[i], { ...found, ...text } as LabNode])
    return {
      ...Object.fromEntries(records),
      ...Object.fromEntries(named.map((found, i) => [`h${i + 1}.example`, found])),
      'mute.example': 'SERVFAIL',
    }
  })
