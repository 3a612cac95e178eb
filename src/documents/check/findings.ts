import type { FindingAnswer } from '../../answers/finding.ts'
import { type Block, code, type Line, quiet, text } from '../block.ts'

/** A step of the path, by its number there. */
export type Step = {
  readonly number: number
  /** It shows a file to serve. */
  readonly hasFile: boolean
}

/**
 * One finding with its evidence, its repair and the record to publish. `level`: that of its heading. `step`: the step
 * of the path that repairs it, to which the repair leads in place of a record of its own.
 */
export const findingBlock = (finding: FindingAnswer, level: 3 | 4 = 4, step?: Step): Block => ({
  kind: 'group',
  look: 'finding',
  blocks: [
    { kind: 'heading', level, line: [finding.title] },
    quiet({ severity: finding.severity }, ' · ', code(finding.id), ' · ', ...findingReference(finding.reference)),
    text(finding.detail),
    ...(finding.evidence === undefined ? [] : [{ kind: 'seen', label: 'Seen', text: finding.evidence } as const]),
    ...repairBlocks(finding.repair, step),
    ...(finding.file && !step?.hasFile ? [fileBlock(finding.file)] : []),
    ...(finding.fix && !step ? [{ kind: 'publish', record: finding.fix } as const] : []),
  ],
})

/** What to do. Where a step of the path repairs it, "shown" is said of that step, which has the record. */
export function repairBlocks(repair: string | undefined, step: Step | undefined): Block[] {
  const label = { strong: 'What to do: ' }
  if (!step) return repair === undefined ? [] : [text(label, repair)]
  const link = { link: `#step-${step.number}`, text: `step ${step.number}` }
  const [, before, after] = /^(.*?)\bshown(?: here)?\b(.*)$/su.exec(repair ?? '') ?? []
  if (before !== undefined && after !== undefined) return [text(label, `${before}in `, link, after)]
  return [text(label, ...(repair === undefined ? ['See '] : [`${repair} See `]), link, '.')]
}

/** A file to serve, one line of it a line. */
const fileBlock = ({ url, text: lines }: { readonly url: string; readonly text: string }): Block => ({
  kind: 'seen',
  label: `File at ${url}`,
  text: lines.trim().split('\n'),
})

/** `RFC 7208 §4.6.4` as a link to that section. */
export function findingReference(reference: string): Line {
  const rfc = /^RFC (\d{1,5})(?: §(\d{1,3}(?:\.\d{1,3}){0,4}))?$/.exec(reference)
  if (!rfc) return [reference]
  const section = rfc[2] === undefined ? '' : `#section-${rfc[2]}`
  return [{ link: `https://www.rfc-editor.org/rfc/rfc${rfc[1]}${section}`, text: reference, named: true }]
}
