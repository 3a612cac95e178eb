import { escapeHtml, printable } from '../../base/text.ts'
import { reaches } from '../severity.ts'
import type { Setup, Writer } from './names.ts'
import type { CheckStatus, Issue, Outcome } from './outcome.ts'

/**
 * JUnit XML: a suite for each target, a case for each check and one for the verdict. A check fails if it has findings at or above `--fail-on` (default high). An unknown
 * result is skipped with its reason, never passed; a request without an answer is an error.
 */
export const junitWriter = (setup: Setup): Writer => ({
  each: () => '',
  end: (all) =>
    `<?xml version="1.0" encoding="UTF-8"?>\n${element('testsuites', { name: 'mailsonde' }, suites(all, setup))}\n`,
})

type Case = { readonly name: string; readonly kind: 'passed' | 'failure' | 'skipped' | 'error'; readonly inner: string }

const suites = (all: readonly Outcome[], setup: Setup): string =>
  all
    .map((outcome, id) => {
      const cases = casesOf(outcome, setup)
      const count = (kind: Case['kind']): string => String(cases.filter((one) => one.kind === kind).length)
      const counts = {
        tests: String(cases.length),
        failures: count('failure'),
        errors: count('error'),
        skipped: count('skipped'),
      }
      const inner = cases.map(({ name, inner }) =>
        element('testcase', { name, classname: `mailsonde.${outcome.operation.replaceAll(' ', '-')}` }, inner),
      )
      return element('testsuite', { name: outcome.target, id: String(id), ...counts }, inner.join(''))
    })
    .join('')

function casesOf(outcome: Outcome, { failOn }: Setup): readonly Case[] {
  const { verdict, line, issues, checks } = outcome
  const names = new Set([...checks.map(({ name }) => name), ...issues.map(({ id }) => id.split('.')[0]!)])
  const cases = [...names].map((name) =>
    caseOf(
      name,
      checks.find((check) => check.name === name),
      issues.filter(({ id }) => id.split('.')[0] === name),
      (issue) => reaches(issue.severity, failOn),
    ),
  )
  return [...cases, { name: 'verdict', ...verdictCase(verdict, line) }]
}

function verdictCase(verdict: Outcome['verdict'], line: string): Omit<Case, 'name'> {
  if (verdict === 'good') return { kind: 'passed', inner: element('system-out', {}, text(line)) }
  if (verdict === 'bad') return { kind: 'failure', inner: element('failure', { message: line, type: 'verdict' }, '') }
  if (verdict === 'refused') return { kind: 'error', inner: element('error', { message: line, type: 'refused' }, '') }
  return { kind: 'skipped', inner: element('skipped', { message: `could not be determined: ${line}` }, '') }
}

function caseOf(
  name: string,
  check: CheckStatus | undefined,
  issues: readonly Issue[],
  fails: (issue: Issue) => boolean,
): Case {
  const failures = issues.filter(fails)
  const others = issues.filter((issue) => !fails(issue)).map(words)
  const out = others.length === 0 ? '' : element('system-out', {}, text(others.join('\n')))
  if (failures.length > 0) {
    const [first] = failures
    const attributes = { message: first?.title ?? '', type: first?.id ?? '' }
    return { name, kind: 'failure', inner: element('failure', attributes, text(failures.map(words).join('\n'))) + out }
  }
  if (check?.status === 'unknown' || check?.status === 'not_applicable')
    return { name, kind: 'skipped', inner: element('skipped', { message: check.reason ?? check.status }, '') + out }
  return { name, kind: 'passed', inner: out }
}

const words = ({ id, severity, detail, repair }: Issue): string =>
  [`${severity} ${id}: ${detail}`, ...(repair === undefined ? [] : [repair])].join('\n')

function element(name: string, attributes: Readonly<Record<string, string>>, inner: string): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${plain(value, 1_000)}"`)
  return inner === '' ? `<${name}${written.join('')}/>` : `<${name}${written.join('')}>${inner}</${name}>`
}

/** Text as content, line by line. */
const text = (value: string): string =>
  value
    .split('\n')
    .map((line) => plain(line, 4_000))
    .join('\n')

/** `printable` removes all characters that XML 1.0 §2.2 forbids except U+FFFE and U+FFFF. */
const plain = (value: string, maxLength: number): string =>
  escapeHtml(printable(value, maxLength).replaceAll(/[\ufffe\uffff]/g, ' '))
    // No command of a build server.
    .replaceAll(/##(?=(?:vso)?\[)/gi, '#&#35;')
    .replace(/^(\s*):(?=:)/, '$1&#58;')
