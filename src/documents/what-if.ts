import type { CheckSummary, WhatIfAnswer } from '../answers/what-if.ts'
import { type Block, code, type Document, heading, type Inline, type Line, quiet, text } from './block.ts'
import { checkDocument } from './check/check-document.ts'
import { formatData } from './record-data.ts'
import { counted } from './signs.ts'

/** The check as if records were published: what changes first, then the check itself. */
export function whatIfDocument(answer: WhatIfAnswer, version: string): Document {
  // What was before and what would be after stands in its own table; it is no check.
  const { before: _before, after: _after, ...check } = answer
  const { blocks, footer } = checkDocument(check, version)
  const [verdict, ...rest] = blocks
  return {
    title: `What if: ${answer.domain}`,
    blocks: [...(verdict ? [verdict] : []), ...changeBlocks(answer), ...rest],
    footer,
  }
}

function changeBlocks({ before, after, as_if, passed_over, findings }: WhatIfAnswer): Block[] {
  const titles = new Map(findings.map(({ id, title }) => [id, title]))
  const fixed = before.findings.filter((id) => !after.findings.includes(id))
  const added = after.findings.filter((id) => !before.findings.includes(id))
  const named = (id: string): Line => {
    const title = titles.get(id)
    return title === undefined ? [code(id)] : [`${title} (`, code(id), ')']
  }
  const passed = Object.entries(passed_over)
  return [
    heading(2, 'What would change', 'change'),
    text(...sentenceOf(before, after)),
    {
      kind: 'table',
      table: {
        caption: 'Before and after',
        head: ['Of', 'Now', 'With these records'],
        rows: rowsOf(before, after),
      },
    },
    ...listOf('Faults that would be fixed:', fixed, named),
    ...listOf('New faults:', added, named),
    heading(3, 'The records'),
    ...as_if.map(
      ({ name, type, data }): Block => ({
        kind: 'seen',
        label: `${name} ${type}`,
        text: typeof data === 'string' ? data : formatData(data),
      }),
    ),
    ...(passed.length === 0
      ? []
      : [
          quiet(
            `Left out of the zone, because they have no effect here: ${passed.map(([type, count]) => `${count} ${type}`).join(', ')}.`,
          ),
        ]),
  ]
}

function sentenceOf(before: CheckSummary, after: CheckSummary): Inline[] {
  const gain = after.score - before.score
  if (gain === 0) return ['The score stays ', { strong: String(after.score) }, '.']
  return [
    `The score ${gain > 0 ? 'rises' : 'falls'} by ${counted(Math.abs(gain), 'point')}, from ${before.score} to `,
    { strong: String(after.score) },
    '.',
  ]
}

const rowsOf = (before: CheckSummary, after: CheckSummary): Line[][] => [
  [['Score'], [scoreOf(before)], [scoreOf(after)]],
  [['Grade'], [before.grade], [after.grade]],
  [['Status'], [{ status: before.status }], [{ status: after.status }]],
  [['Findings'], [String(before.findings.length)], [String(after.findings.length)]],
]

const scoreOf = ({ score, score_min: least = score, score_max: most = score }: CheckSummary): string =>
  least === most ? String(score) : `${score} (${least}–${most})`

const listOf = (title: string, ids: readonly string[], named: (id: string) => Line): Block[] =>
  ids.length === 0 ? [] : [text({ strong: title }), { kind: 'list', items: ids.map(named) }]
