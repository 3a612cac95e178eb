import type { FindingAnswer } from '../../answers/finding.ts'
import { type Block, code, group, heading, type Inline, type Line, type Parts, quiet, seen, text } from '../block.ts'

/**
 * One finding with its evidence, and what to do: the step of the path that mends it, else its own words and record.
 * `level`: that of its heading.
 */
export const findingBlock = (
  finding: FindingAnswer,
  { level = 4, step, label = { severity: finding.severity } }: About = {},
): Block =>
  group(
    'finding',
    heading(level, finding.title),
    quiet(label, ' · ', code(finding.id), ' · ', ...findingReference(finding.reference)),
    text(finding.detail),
    finding.accepted && acceptedBlock(finding.accepted),
    finding.evidence !== undefined && seen('Seen', finding.evidence),
    step === undefined
      ? ownRepair(finding)
      : text({ strong: 'What to do: ' }, { link: `#step-${step}`, text: `step ${step}` }, '.'),
  )

/** Who accepted a finding, why and until when. */
const acceptedBlock = ({ by, reason, until }: NonNullable<FindingAnswer['accepted']>): Block =>
  text({ strong: `Accepted until ${until.slice(0, 10)}` }, ` by ${by}: ${reason}`)

type About = { readonly level?: 3 | 4; readonly step?: number | undefined; readonly label?: Inline }

const ownRepair = ({ repair, file, fix }: FindingAnswer): Parts => [
  repair !== undefined && text({ strong: 'What to do: ' }, repair),
  file && seen(`File at ${file.url}`, file.text.trim().split('\n')),
  fix && { kind: 'publish', record: fix },
]

/** `RFC 7208 §4.6.4` as a link to that section. */
function findingReference(reference: string): Line {
  const rfc = /^RFC (\d{1,5})(?: §(\d{1,3}(?:\.\d{1,3}){0,4}))?$/.exec(reference)
  if (!rfc) return [reference]
  const section = rfc[2] === undefined ? '' : `#section-${rfc[2]}`
  return [{ link: `https://www.rfc-editor.org/rfc/rfc${rfc[1]}${section}`, text: reference, named: true }]
}
