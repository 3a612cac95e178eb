import { readFileSync, statSync } from 'node:fs'
import { AppError } from '../base/errors.ts'
import type { ViewFlags } from '../cli/program.ts'
import { parseRecordLine } from '../net/dns/record-text.ts'
import type { Operation } from '../operations/operation.ts'
import { whatIf } from '../operations/what-if.ts'

type Asked = { readonly operation: Operation; readonly raw: Readonly<Record<string, unknown>> }

/** Bytes of a zone file that are read. */
const MAX_FILE = 4 << 20

/** What a check with `--with` or `--zone` becomes: the what-if operation. Throws AppError for a record or file that cannot be read. */
export function asIf(raw: Readonly<Record<string, unknown>>, view: ViewFlags): Asked {
  const stray = Object.keys(raw).find((name) => !(name in whatIf.input.shape))
  if (stray !== undefined)
    throw new AppError('invalid_parameter', `--${stray} is not taken together with --with and --zone`)
  const records = (view.with ?? []).map((line) => {
    const record = parseRecordLine(line)
    if (!record.ok) throw new AppError('invalid_parameter', `--with: ${record.problem}`)
    return record.value
  })
  const zone = view.zone === undefined ? {} : { zone: readZone(view.zone) }
  return { operation: whatIf, raw: { ...raw, ...(records.length > 0 ? { records } : {}), ...zone } }
}

function readZone(file: string): string {
  try {
    if (statSync(file).size <= MAX_FILE) return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new AppError('invalid_parameter', `--zone: ${file} cannot be read: ${(cause as Error).message}`, { cause })
  }
  throw new AppError('invalid_parameter', `--zone: ${file} is longer than a zone that is read here`)
}
