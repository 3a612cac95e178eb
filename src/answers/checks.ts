import { z } from 'zod'
import type { AnswerOf } from './answer.ts'
import { reason, status } from './finding.ts'

/**
 * The object of each check in the answers of `/v1/check` and `/v1/report`: its own fields, then `status`, and `reason`
 * if it is unknown.
 */

/** One include of an SPF record with its cost; `includes` are its own. */
const spfInclude = z
  .strictObject({
    term: z.string(),
    domain: z.string().optional(),
    state: z.string(),
    reason: z.string().optional(),
    lookups: z.int(),
    void_lookups: z.int(),
    all: z.string().optional(),
    record: z.string().optional(),
    get includes() {
      return z.array(spfInclude)
    },
    includes_left_out: z.int().optional(),
  })
  .meta({ id: 'SpfInclude' })

/**
 * Who passes: public addresses of IPv4 and networks of 64 bits of IPv6, in total and by each term of the domain's own
 * record.
 */
export const spfPassing = z
  .strictObject({
    ipv4: z.number(),
    ipv6_prefixes: z.number(),
    by: z.array(
      z.strictObject({
        term: z.string(),
        ipv4: z.number().optional(),
        ipv6_prefixes: z.number().optional(),
        note: z.string().optional(),
      }),
    ),
    by_left_out: z.int().optional(),
    complete: z.boolean(),
  })
  .meta({ id: 'SpfPassing' })

export const spf = z
  .strictObject({
    valid: z.boolean(),
    record: z.string().optional(),
    status,
    reason,
    records: z.array(z.string()),
    lookups: z.int().optional(),
    void_lookups: z.int().optional(),
    all: z.string().optional(),
    includes: z.array(spfInclude),
    includes_left_out: z.int().optional(),
    records_left_out: z.int().optional(),
    passing: spfPassing.optional(),
  })
  .meta({ id: 'Spf' })

export type SpfInclude = AnswerOf<typeof spfInclude>

const strings = z.array(z.string())
const doubtful = { status, reason }
const policy = z.enum(['none', 'quarantine', 'reject', ''])

/** One DKIM key, without its domain. */
export const dkimKey = z.strictObject({
  selector: z.string(),
  name: z.string(),
  record: z.string(),
  records: strings,
  usable: z.boolean(),
  key_type: z.string(),
  key_bits: z.int().nullable(),
  revoked: z.boolean(),
  testing: z.boolean(),
  problem: z.string().optional(),
  services: strings,
  hashes: strings,
  cname: strings,
})

export const dkim = z
  .strictObject({
    valid: z.boolean(),
    selector: z.string().optional(),
    domain: z.string().optional(),
    ...doubtful,
    keys: z.array(dkimKey.extend({ domain: z.string() })),
    tried: z.int(),
    wildcard: z.boolean(),
    discovery: z.enum(['found', 'none_found', 'proven_absent', 'unknown']),
    signers: strings,
    learned: strings.optional().meta({
      description: 'selectors that were tried because reports name them; only for a caller who may see the reports',
    }),
  })
  .meta({ id: 'Dkim' })

/** A report address of a DMARC record. */
const destination = z.strictObject({
  uri: z.string(),
  authorized: z
    .boolean()
    .nullable()
    .meta({ description: 'null: no agreement of another organization is needed, or it could not be looked up' }),
  reason: z.string().optional(),
})

/** The fields of a DMARC record, which `/v1/dmarc` has too. */
export const dmarcFields = {
  valid: z.boolean(),
  record: z.string().optional(),
  policy,
  ...doubtful,
  inherited: z.boolean(),
  subdomain_policy: z.string(),
  np: z.string(),
  effective_policy: z.string(),
  testing: z.boolean(),
  psd: z.string(),
  pct: z.int().optional(),
  rua: z.array(destination),
  ruf: z.array(destination),
}

export const dmarc = z.strictObject({ ...dmarcFields, domain: z.string().optional() }).meta({ id: 'Dmarc' })

const mxAddress = z.strictObject({
  address: z.string(),
  ptr: strings,
  forward_confirmed: z.boolean().nullable(),
  reason: z.string().optional(),
})

export const mxHost = z
  .strictObject({
    host: z.string(),
    priority: z.int(),
    addresses: z.array(mxAddress),
    cname: strings,
    resolvable: z.boolean().nullable(),
    reason: z.string().optional(),
  })
  .meta({ id: 'MxHost' })

export const ptr = z
  .strictObject({
    valid: z.boolean(),
    ...doubtful,
    forward_confirmed: z.boolean().nullable(),
    addresses: z.array(
      z.strictObject({
        address: z.string(),
        names: strings,
        forward_confirmed: z.boolean().nullable(),
        generic: z.boolean(),
      }),
    ),
  })
  .meta({ id: 'Ptr' })

export const bimi = z
  .strictObject({
    valid: z.boolean(),
    ...doubtful,
    record: z.string().optional(),
    logo: z.string(),
    authority: z.string(),
  })
  .meta({ id: 'Bimi' })

export const caa = z
  .strictObject({
    ...doubtful,
    domain: z.string().optional(),
    records: z.array(z.strictObject({ critical: z.boolean(), tag: z.string(), value: z.string() })),
  })
  .meta({ id: 'Caa' })

const tlsaRecord = z.strictObject({
  usage: z.int(),
  selector: z.int(),
  matching_type: z.int(),
  data: z.string(),
  usable: z.boolean(),
  matches: z.boolean().nullable(),
  problem: z.string().optional(),
})

export const dane = z
  .strictObject({
    ...doubtful,
    hosts: z.array(
      z.strictObject({
        host: z.string(),
        secure: z.boolean().nullable(),
        records: z.array(tlsaRecord),
        reason: z.string().optional(),
      }),
    ),
  })
  .meta({ id: 'Dane' })

export const dnssec = z
  .strictObject({
    ...doubtful,
    signed: z.boolean().nullable(),
    validated: z.boolean().nullable(),
    bogus: z.boolean().nullable(),
    ede: z.array(z.strictObject({ code: z.int(), text: z.string() })),
    zone: z.string().optional(),
  })
  .meta({ id: 'Dnssec' })

export const mtaSts = z
  .strictObject({
    valid: z.boolean(),
    ...doubtful,
    record: z.string().optional(),
    id: z.string(),
    policy: z.strictObject({ mode: z.string(), max_age: z.int(), mx: strings }).optional(),
    uncovered_mx: strings,
  })
  .meta({ id: 'MtaSts' })

export const ns = z
  .strictObject({
    ...doubtful,
    servers: z.array(
      z.strictObject({
        host: z.string(),
        addresses: strings,
        lame: z.boolean().nullable(),
        serial: z.int().nullable(),
        differs: strings,
        tcp: z.boolean().nullable().optional(),
        reason: z.string().optional(),
      }),
    ),
    zone: z.string().optional(),
    parent_servers: strings.optional(),
  })
  .meta({ id: 'NameServers' })

export const soa = z
  .strictObject({
    ...doubtful,
    primary: z.string().optional(),
    contact: z.string().optional(),
    serial: z.int().optional(),
    refresh: z.int().optional(),
    retry: z.int().optional(),
    expire: z.int().optional(),
    minimum: z.int().optional(),
    zone: z.string().optional(),
  })
  .meta({ id: 'Soa' })

export const starttls = z
  .strictObject({
    ...doubtful,
    hosts: z.array(
      z.strictObject({
        host: z.string(),
        address: z.string().nullable(),
        banner_name: z.string().nullable(),
        ehlo_name: z.string().nullable(),
        offered: z.boolean().nullable(),
        protocol: z.string().nullable(),
        outdated_protocol: z.string().nullable().optional(),
        names: strings,
        issuer: z.string().nullable(),
        expires_at: z.string().nullable(),
        trusted: z.boolean().nullable(),
        name_matches: z.boolean().nullable(),
        key_type: z.string().nullable(),
        key_bits: z.int().nullable(),
        reason: z.string().optional(),
        seen_at: z.iso.datetime().optional().meta({
          description: 'of a monitor: when the host was contacted, once for all domains that it serves',
        }),
      }),
    ),
  })
  .meta({ id: 'Starttls' })

export const tlsRpt = z
  .strictObject({
    valid: z.boolean(),
    ...doubtful,
    record: z.string().optional(),
    rua: strings,
  })
  .meta({ id: 'TlsRpt' })

/**
 * The check's own part of its object: without `status` and `reason`, which are added for every check; its own `reason`
 * is kept.
 */
type Own<S extends z.ZodType> = Omit<AnswerOf<S>, 'status' | 'reason'> & { readonly reason?: string | undefined }

export type SpfFields = Own<typeof spf>
export type DkimFields = Own<typeof dkim>
export type DkimKey = AnswerOf<typeof dkimKey>
export type DmarcFields = Own<typeof dmarc>
export type Destination = DmarcFields['rua'][number]
export type MxAddress = AnswerOf<typeof mxAddress>
export type MxHost = AnswerOf<typeof mxHost>
export type PtrFields = Own<typeof ptr>
export type BimiFields = Own<typeof bimi>
export type CaaFields = Own<typeof caa>
export type DaneFields = Own<typeof dane>
export type DnssecFields = Own<typeof dnssec>
export type MtaStsFields = Own<typeof mtaSts>
export type NsFields = Own<typeof ns>
export type SoaFields = Own<typeof soa>
export type StarttlsFields = Own<typeof starttls>
export type TlsRptFields = Own<typeof tlsRpt>
