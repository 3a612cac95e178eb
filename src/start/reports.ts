import type { Config } from '../config.ts'
import type { BlacklistAnswer } from '../dnsbl/blacklists.ts'
import { parseAuthenticationResults } from '../message/authentication-results.ts'
import { type VerifiedSignature, verifySignatures } from '../message/dkim.ts'
import { authorOf, fieldBody, parseMail } from '../message/parse.ts'
import type { Deps } from '../operations/deps.ts'
import type { Envelope, ReportSignature } from '../reports/reporters.ts'
import { type ReportService, reportService } from '../reports/service.ts'
import type { LazyDatabase } from '../store/postgres/connect.ts'
import type { StorageGuard } from '../store/postgres/storage.ts'
import type { World } from '../world.ts'
import { hasDatabase } from './data-folder.ts'
import { markReports } from './reports-here.ts'

/** Reports over a database that is opened when it is first needed. */
export const openReports = (
  config: Config,
  world: World,
  { open }: LazyDatabase,
  { geo, blacklists, storage }: Pick<Deps, 'geo' | 'blacklists'> & { readonly storage: StorageGuard },
): ReportService =>
  reportService({
    heavy: world.heavy,
    open,
    exists: () => hasDatabase(config),
    storage,
    listedOn: async (address, signal) => listedOn(await blacklists.lookup({ ...world, signal }, address)),
    envelopeOf: (message, signal) =>
      envelopeOf(message, { resolve: world.resolve, signal }, world.now(), config.reportsTrust),
    networkOf: async (address) => (await geo(address)).asOrg ?? undefined,
    onStored: () => markReports(config),
    keepMs: config.reportsKeep,
    maxOctets: config.maxReport,
    now: world.now,
    monotonic: world.monotonic,
    log: world.log,
  })

/** Whether an address is on a list of tier A or B; undefined: none of them answered. */
function listedOn({ entries }: Pick<BlacklistAnswer, 'entries'>): boolean | undefined {
  const weighty = entries.filter(({ list, reading }) =>
    reading.status === 'listed' ? isWeighty(reading.tier) : reading.status === 'not_listed' && isWeighty(list.tier),
  )
  if (weighty.length === 0) return undefined
  return weighty.some(({ reading }) => reading.status === 'listed')
}

const isWeighty = (tier: string): boolean => tier === 'A' || tier === 'B'

/** What is known of a message that brings a report. Never rejects because of the DNS. */
export async function envelopeOf(
  message: Uint8Array,
  ctx: Parameters<typeof verifySignatures>[1],
  nowMs: number,
  trusted: readonly string[],
): Promise<Envelope> {
  const octets = Buffer.from(message.buffer, message.byteOffset, message.length)
  const { fields } = parseMail(octets)
  const from = authorOf(fields).mailboxes.map(({ address }) => address.toLowerCase())
  const results = trusted.length > 0 ? fields.find(({ name }) => name === 'authentication-results') : undefined
  const signatures = await verifySignatures(octets, ctx, nowMs, true)
  return {
    from,
    signatures: signatures.map(signatureOf),
    isTrusted: results !== undefined && saysPass(fieldBody(results), trusted),
  }
}

/** What says nothing about the sender: a key that is gone, a signature that has expired. */
const SILENT: readonly string[] = ['signature.key_gone', 'signature.key_revoked', 'signature.expired']

const signatureOf = ({ domain, result, because, signature, key }: VerifiedSignature): ReportSignature => ({
  domain,
  result:
    result === 'pass'
      ? 'pass'
      : result === 'temperror'
        ? 'unanswered'
        : because !== undefined && SILENT.includes(because.id)
          ? 'unknown'
          : 'fail',
  signsFrom: signature?.names.includes('from') ?? false,
  isPartial: signature?.limit !== undefined,
  ...(key?.onlyFor && { isOfTlsReports: true }),
})

/** Whether an Authentication-Results field of a trusted host says dmarc=pass (RFC 8601 §2.2). */
function saysPass(text: string, trusted: readonly string[]): boolean {
  const { host, claims } = parseAuthenticationResults(text)
  return trusted.includes(host) && claims.some(({ method, result }) => method === 'dmarc' && result === 'pass')
}
