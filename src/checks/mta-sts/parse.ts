import { type Parsed, parsed, problem } from '../../base/parsed.ts'
import { hasVersion, parseFields } from './fields.ts'
import { stsRecordProblem } from './problems.ts'

/** An MTA-STS record (RFC 8461 §3.1): its `id` changes with the policy. */
export type StsRecord = { readonly id: string; readonly extensions: readonly string[] }

const VERSION = 'v=STSv1'
/** Maximum number of extensions that are kept. */
const MAX_EXTENSIONS = 20

export const isStsRecord = (text: string): boolean => hasVersion(text, VERSION)

/** Whether a text was probably meant to be an MTA-STS record. */
export const resemblesStsRecord = (text: string): boolean => /^["\s]{0,8}v\s{0,8}=?\s{0,8}sts/i.test(text.slice(0, 64))

/** Reads an MTA-STS record (RFC 8461 §3.1); a record that violates the grammar counts as no policy. */
export function parseStsRecord(text: string): Parsed<StsRecord> {
  const fields = parseFields(text, VERSION, 'id')
  if (!fields.ok) return fields
  const ids = fields.value.filter((field) => field.name === 'id')
  const [id] = ids
  if (!id) return problem(stsRecordProblem('no_id'))
  if (ids.length > 1) return problem(stsRecordProblem('several_ids'), ids[1]!.at)
  if (!/^[A-Za-z0-9]{1,32}$/.test(id.value)) return problem(stsRecordProblem('id'), id.at)
  const extensions = fields.value.filter((field) => field !== id).map((field) => `${field.name}=${field.value}`)
  return parsed({ id: id.value, extensions: extensions.slice(0, MAX_EXTENSIONS) })
}

export const formatStsRecord = (record: StsRecord): string =>
  [VERSION, `id=${record.id}`, ...record.extensions].join('; ')
