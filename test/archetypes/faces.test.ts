import type { CheckAnswer } from '../../src/answers/check.ts'
import { outcomeOf } from '../../src/cli/machine/outcome.ts'
import { checkDocument } from '../../src/documents/check/check-document.ts'
import { formatHtml } from '../../src/documents/html/html.ts'
import { formatMarkdown } from '../../src/documents/markdown/markdown.ts'
import { formatTerminal } from '../../src/documents/terminal/terminal.ts'
import { measureCheck } from '../../src/operations/probe-samples.ts'
import { checkVerdict } from '../../src/operations/score-range.ts'
import { domains, questionOf } from './cases.ts'
import { answerOf, serviceFor } from './lab.ts'
import { runCases } from './run.ts'

/** The numbers of an answer are the same on all its faces: JSON, HTML, Markdown, terminal, metrics, and the lines for other programs. */
const { cases, ...shared } = domains()
const CASES = cases.filter(({ domain, path, expect: { refused } }) => domain && !path && !refused)
/** No case may break its promise. */
const NONE = {}

runCases(
  'faces of archetypes',
  CASES,
  async (row) => {
    const { format: _format, ...query } = questionOf(row)
    const { get, close } = await serviceFor(row, shared)
    try {
      const answer = (await answerOf(get, '/v1/check', query)) as CheckAnswer
      return [...sumFaults(answer), ...goneFaults(answer), ...(await faceFaults(answer))]
    } finally {
      await close()
    }
  },
  NONE,
)

/** The rows and the score add up to 100, and the bars to the score. */
function sumFaults(answer: CheckAnswer): readonly string[] {
  const { score, score_breakdown: rows, domain_role: role } = answer
  const lost = rows.reduce((sum, { points }) => sum + points, 0)
  const faults = lost + score === 100 ? [] : [`the rows take ${lost} from 100, and the score is ${score}`]
  const bars = checkDocument(answer, '1').blocks.flatMap((block) => (block.kind === 'bars' ? block.bars : []))
  const judged = bars.filter(({ kept }) => kept !== undefined)
  if (judged.length === 0 || role.name === 'no_such_domain') return faults
  const kept = judged.reduce((sum, bar) => sum + (bar.kept ?? 0), 0)
  const worth = judged.reduce((sum, bar) => sum + bar.worth, 0)
  const capped = rows.filter(({ kind }) => kind === 'cap').reduce((sum, { points }) => sum + points, 0)
  const whole = Math.floor((100 * kept) / worth - capped + 0.5)
  return Math.abs(whole - score) < 1 ? faults : [...faults, `the bars add up to ${whole}, and the score is ${score}`]
}

/** A name that does not exist loses 100 points in one row, with one finding. */
function goneFaults({ domain_role: role, score_breakdown: rows, findings }: CheckAnswer): readonly string[] {
  if (role.name !== 'no_such_domain') return []
  const isOne = rows.length === 1 && rows[0]!.points === 100 && findings.length === 1
  return isOne ? [] : [`no such domain, and ${rows.length} rows with ${findings.length} findings`]
}

const MANY_DIGITS = /\d\.\d{2,} ?points?\b/
const GRADE = /\bgrade (?:A\+?|[BCDF])\b/i

async function faceFaults(answer: CheckAnswer): Promise<readonly string[]> {
  const document = checkDocument(answer, '1')
  const faces = {
    json: JSON.stringify(answer.findings),
    html: formatHtml(document),
    markdown: formatMarkdown(document),
    terminal: formatTerminal(document, { width: 100, colour: false, unicode: true }),
    line: outcomeOf('check', answer.domain, checkVerdict(answer), JSON.parse(JSON.stringify(answer))).line,
  }
  const shown = Object.entries(faces)
  const isOpen = (answer.score_max ?? answer.score) - (answer.score_min ?? answer.score) > 50
  const { samples } = measureCheck(answer)
  const measured = samples.some(({ name }) => name === 'mailsonde_score')
  return [
    ...shown.filter(([, text]) => MANY_DIGITS.test(text)).map(([name]) => `${name} has points with many digits`),
    ...(isOpen === (answer.grade === null) ? [] : [`the grade is ${answer.grade}`]),
    ...(measured === (answer.grade !== null) ? [] : ['the metrics have another score']),
    ...(answer.grade === null ? shown.filter(([, text]) => GRADE.test(text)) : []).map(
      ([name]) => `${name} has a grade`,
    ),
    ...(answer.grade !== null && !faces.terminal.includes(`grade ${answer.grade}, ${answer.score} of 100`)
      ? ['the terminal has another score']
      : []),
  ]
}
