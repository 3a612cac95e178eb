import { hash } from 'node:crypto'
import { copyField } from './copy-text.ts'

/**
 * The rows of reports on their way to the database: lines in the text format of COPY, which the lane writes and the
 * main thread hands on as they are. The columns of the staging tables and the lines below belong together.
 */

/** A record of a DMARC report as it is summed. Texts may come from strangers and are bounded by the parser. */
export type ReportRow = {
  /** Name in From. */
  readonly name: string
  readonly address: string
  readonly envelope_from: string
  readonly spf_domain: string
  readonly spf_result: string
  readonly spf_aligned: boolean | null
  readonly dkim_domain: string
  readonly dkim_selector: string
  readonly dkim_result: string
  readonly dkim_aligned: boolean | null
  readonly signers: string
  readonly disposition: string
  readonly reason: string
  readonly messages: number
}

/** The totals of a policy in a TLS report, or one kind of its failures. */
export type TlsRow = {
  readonly domain: string
  readonly type: string
  readonly host: string | null
  readonly failure: string | null
  readonly successful: number | null
  readonly failed: number | null
}

export type ReportKind = 'dmarc' | 'tls'

export const STAGED: Readonly<Record<ReportKind, string>> = {
  dmarc: `digest uuid, name text, address inet, envelope_from text, spf_domain text, spf_result text, spf_aligned boolean, dkim_domain text,
    dkim_selector text, dkim_result text, dkim_aligned boolean, signers text, disposition text, reason text, messages bigint`,
  tls: 'domain text, type text, host text, failure text, successful bigint, failed bigint',
}

const SOURCE = [
  'name',
  'address',
  'envelope_from',
  'spf_domain',
  'spf_result',
  'spf_aligned',
  'dkim_domain',
  'dkim_selector',
  'dkim_result',
  'dkim_aligned',
  'signers',
  'disposition',
  'reason',
] as const satisfies readonly (keyof ReportRow)[]

/** Everything that a record says but its number of messages: records with one key are one row. */
export const sourceKey = (row: ReportRow): string => SOURCE.map((field) => row[field]).join('\u0000')

/** The line of a row; `key` is its {@link sourceKey}, and the digest of it names the source. */
export const reportLine = (key: string, row: ReportRow, messages: number): string =>
  `${hash('md5', key)}\t${SOURCE.map((field) => copyField(row[field])).join('\t')}\t${messages}\n`

const TLS = ['domain', 'type', 'host', 'failure', 'successful', 'failed'] as const satisfies readonly (keyof TlsRow)[]

export const tlsLine = (row: TlsRow): string => `${TLS.map((field) => copyField(row[field])).join('\t')}\n`
