import type { CheckAnswer } from '../../src/answers/check.ts'
import type { ReportAnswer } from '../../src/answers/report.ts'
import { WEIGHTS } from '../../src/answers/weights.ts'
import { outcomeOf } from '../../src/cli/machine/outcome.ts'
import { writerOf } from '../../src/cli/machine/writers.ts'
import { checkDocument } from '../../src/documents/check/check-document.ts'
import { formatHtml } from '../../src/documents/html/html.ts'
import { formatMarkdown } from '../../src/documents/markdown/markdown.ts'
import { formatTerminal } from '../../src/documents/terminal/terminal.ts'
import { knownRun } from '../../src/monitors/kinds.ts'
import { badgeOf } from '../../src/monitors/present.ts'
import { ip, reverseName } from '../../src/names/ip.ts'
import { checkVerdict } from '../../src/operations/check.ts'
import { measureCheck } from '../../src/operations/probe.ts'
import { LIVE_LISTS } from '../lab/lists.ts'
import { type DomainCase, domains, questionOf, type WrittenZone } from './cases.ts'
import { answerOf, serviceFor, zoneOf } from './lab.ts'
import { runCases } from './run.ts'

/**
 * The numbers of an answer are the same on all its faces: JSON, HTML, Markdown, terminal, metrics, badge, and the lines
 * for other programs.
 */
const { cases, ...shared } = domains()
const CASES = cases.filter(({ domain, path, expect: { refused } }) => domain && !path && !refused)
/** One case in so many is also a report: its 29 lists take longer than the check. */
const EACH = 16
/** No case may break its promise. */
const NONE = {}

runCases(
  'faces of archetypes',
  CASES,
  async (row) => {
    const { format: _format, ...question } = questionOf(row)
    const asked = async <A>(zone: WrittenZone | undefined, path: string, query = question): Promise<A> => {
      const get = serviceFor({ ...row, mail_hosts: mailHostsOf(row), ...(zone && { zone }) }, shared)
      return (await answerOf(get, path, query)) as A
    }
    const answer = await asked<CheckAnswer>(row.zone, '/v1/check')
    // A report looks at STARTTLS in any case.
    const { starttls: _starttls, ...query } = question
    const isListed = CASES.indexOf(row) % EACH === 0
    const listed = isListed ? listingFaults(await asked<ReportAnswer>(listedZone(row), '/v1/report', query)) : []
    return [...sumFaults(answer), ...goneFaults(answer), ...(await faceFaults(answer)), ...listed]
  },
  NONE,
)

/** The mail hosts of a case; one that is not written is away at once, and not only when a report gives up after 6 s. */
function mailHostsOf(row: DomainCase): NonNullable<DomainCase['mail_hosts']> {
  const names = Object.keys(zoneOf(row, shared))
  return { ...Object.fromEntries(names.map((name) => [name, 'away' as const])), ...row.mail_hosts }
}

/** The rows and the score add up to 100, and the bars to the score. */
function sumFaults(answer: CheckAnswer): readonly string[] {
  const { score, score_breakdown: rows, domain_role: role } = answer
  const lost = rows.reduce((sum, { points }) => sum + points, 0)
  const faults = lost + score === 100 ? [] : [`the rows take ${lost} from 100, and the score is ${score}`]
  const bars = checkDocument(answer, '1')
    .blocks.flatMap((block) => (block.kind === 'verdict' ? block.verdict.sum : []))
    .flatMap((block) => (block.kind === 'bars' ? block.bars : []))
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

/** The records of a case, and each of its IPv4 addresses on a blacklist. */
function listedZone({ zone = {} }: DomainCase): WrittenZone {
  const addresses = Object.values(zone).flatMap(({ A = [] }) => (Array.isArray(A) ? A.map(String) : []))
  const names = addresses.map((address) => reverseName(ip(address)).replace('in-addr.arpa', 'zen.spamhaus.org'))
  const listed = Object.fromEntries(names.map((name) => [name, { A: ['127.0.0.2'] }]))
  return { ...zone, ...(LIVE_LISTS as WrittenZone), ...listed }
}

/** The listings of a report cost what the weights say, and its score is the same on every face. */
function listingFaults(answer: ReportAnswer): readonly string[] {
  const results = [...answer.blacklists, ...(answer.domain_blacklists ? [answer.domain_blacklists] : [])].flatMap(
    (one) => one.results.filter(({ listed }) => listed),
  )
  const costs = results.reduce((sum, { tier }) => sum + WEIGHTS.listing[tier], 0)
  const left = Math.max(0, answer.score - Math.min(WEIGHTS.listing.at_most, costs))
  const document = checkDocument(answer, '1')
  const shown = {
    terminal: formatTerminal(document, { width: 100, colour: false, unicode: true }),
    page: textOf(formatHtml(document)),
  }
  const { report_grade: grade } = answer
  return [
    ...(left === answer.report_score
      ? []
      : [`listings leave ${left}, and the score of the report is ${answer.report_score}`]),
    ...(grade === null || shown.terminal.includes(`grade ${grade}, ${left} of 100`)
      ? []
      : ['the terminal has another score of the report']),
    ...(grade === null || shown.page.includes(`${grade} grade ${left} of 100`)
      ? []
      : ['the page has another score of the report']),
    ...(results.length === 0 ||
    answer.score === left ||
    shown.page.includes(`Report score Grade ${grade ?? ''}`) ||
    grade === null
      ? []
      : ['the page does not add the listings up']),
  ]
}

/** What a page says, without its elements. */
const textOf = (html: string): string =>
  html
    .replace(/<style[\s\S]*?<\/style>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')

const MANY_DIGITS = /\d\.\d{2,} ?points?\b/
const GRADE = /\bgrade (?:A\+?|[BCDF])\b/i

async function faceFaults(answer: CheckAnswer): Promise<readonly string[]> {
  const document = checkDocument(answer, '1')
  const outcome = outcomeOf('check', answer.domain, checkVerdict(answer), JSON.parse(JSON.stringify(answer)))
  const html = formatHtml(document)
  const faces = {
    json: JSON.stringify(answer.findings),
    html,
    page: textOf(html),
    markdown: formatMarkdown(document),
    terminal: formatTerminal(document, { width: 100, colour: false, unicode: true }),
    line: outcome.line,
    nagios: writerOf('nagios', { version: '1' }).end([outcome]),
    badge: badge(answer),
  }
  const { grade, score } = answer
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
    ...(grade !== null && !faces.page.includes(`${grade} grade ${score} of 100`) ? ['the page has another score'] : []),
    ...(faces.nagios.includes(`| score=${score};;;0;100`) === (grade !== null) ? [] : ['nagios has another score']),
    ...(faces.badge === (grade === null || isUnread(answer) ? 'unknown' : `${score}/100`)
      ? []
      : [`the badge is ${faces.badge}`]),
  ]
}

/** A monitor takes no result from a check without these. */
const isUnread = ({ spf, dmarc, mx_status: mx }: CheckAnswer): boolean =>
  [spf.status, dmarc.status, mx].includes('unknown')

/** The message of the badge of a monitor with this answer. */
function badge(answer: CheckAnswer): string {
  const { facts, isBad, open, status } = knownRun('check', null).compare(answer)
  const state = open.length > 0 ? 'unknown' : isBad ? 'bad' : 'ok'
  const last = { time: '2026-01-02T03:04:05Z', status, score: facts.score, listed: null }
  return badgeOf({ kind: 'check', target: answer.domain, state, last }).message
}
