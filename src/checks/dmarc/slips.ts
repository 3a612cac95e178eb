import type { Problem } from '../../base/problem.ts'
import type { Finding } from '../check.ts'
import type { Applied } from './facts.ts'
import { finding } from './findings.ts'
import { type Basis, changedFix, softening } from './fixes.ts'
import { type Mended, mendDmarc, type Slip } from './mend.ts'
import { type DmarcRecord, formatDmarc } from './parse.ts'
import { dmarcSlip } from './problems.ts'

/**
 * What the owner of the applied record meant, if something in it cannot be read as published; undefined if everything
 * can.
 */
export function meantBy({ text, reading }: Applied): Mended | undefined {
  const { record, faults, unknown } = reading
  const isClean =
    faults.length === 0 && unknown.length === 0 && ![...record.rua, ...record.ruf].some((uri) => uri.problem)
  return isClean ? undefined : mendDmarc(text)
}

/** Typing errors that make something unreadable; none if the record means the same with and without them. */
export function slipFindings({ text, reading, broken }: Applied, basis: Basis, meant: Mended | undefined): Finding[] {
  if (!meant) return []
  // If a record cannot be applied, nothing of it is used.
  const lost = lostTags(broken ? undefined : reading.record, meant.record)
  if (lost.length === 0) return []
  const fix = changedFix(basis)
  const args = { tags: lost, code: meant.hidden?.code ?? '', at: meant.hidden?.at ?? 0, softened: softening(fix) }
  const ids = new Set(meant.slips.flatMap((slip) => IDS[slip] ?? []))
  return [...ids].map((id) => finding(id, args, { evidence: text, fix }))
}

const IDS: Readonly<
  Partial<Record<Slip, 'dmarc.hidden_character' | 'dmarc.quotes' | 'dmarc.separator' | 'dmarc.two_records'>>
> = {
  hidden_character: 'dmarc.hidden_character',
  quotes: 'dmarc.quotes',
  backslashes: 'dmarc.quotes',
  separator: 'dmarc.separator',
  two_records: 'dmarc.two_records',
}

/** The tags whose values receivers do not read as their owner meant them. */
function lostTags(read: DmarcRecord | undefined, meant: DmarcRecord): string[] {
  const tagsOf = (record: DmarcRecord): Map<string, string> =>
    new Map(
      formatDmarc(record)
        .split('; ')
        .map((item) => [item.slice(0, item.indexOf('=')), item]),
    )
  const before = read ? tagsOf(read) : new Map<string, string>()
  return [...tagsOf(meant)].flatMap(([tag, item]) => (before.get(tag) === item ? [] : [tag]))
}

/** Why receivers ignore a record as a whole. */
export function slipProblems(meant: Mended | undefined): readonly Problem[] {
  const { code = '', at = 0 } = meant?.hidden ?? {}
  return (meant?.slips ?? []).map((slip) =>
    slip === 'hidden_character' ? dmarcSlip(slip, { code, index: at }) : dmarcSlip(slip),
  )
}
