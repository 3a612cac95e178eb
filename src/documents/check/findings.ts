import type { FindingAnswer } from '../../answers/finding.ts'
import { type Block, code, type Line, quiet, text } from '../block.ts'

/** One finding with its evidence, its repair and the record to publish. `level`: that of its heading. */
export const findingBlock = (finding: FindingAnswer, level: 3 | 4 = 4): Block => ({
  kind: 'group',
  look: 'finding',
  blocks: [
    { kind: 'heading', level, line: [finding.title] },
    quiet({ severity: finding.severity }, ' · ', code(finding.id), ' · ', ...findingReference(finding.reference)),
    text(finding.detail),
    ...(finding.evidence === undefined ? [] : [{ kind: 'seen', label: 'Seen', text: finding.evidence } as const]),
    ...(finding.repair === undefined ? [] : [text({ strong: 'What to do: ' }, finding.repair)]),
    ...(finding.file ? [fileBlock(finding.file)] : []),
    ...(finding.fix ? [{ kind: 'publish', record: finding.fix } as const] : []),
  ],
})

/** A file to serve, one line of it a line. */
export const fileBlock = ({ url, text: lines }: { readonly url: string; readonly text: string }): Block => ({
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
