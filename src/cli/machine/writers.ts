import { escapeHtml, escapeUnsafe, printable, withoutCommands } from '../../base/text.ts'
import { reaches, type Severity } from '../status.ts'
import type { CheckStatus, Issue, MachineFormat, Outcome, Setup, Writer } from './outcome.ts'

/** Findings at or above this severity are failures, unless `--fail-on` sets another. */
const FAIL_ON: Severity = 'high'

/** The writer of a format. `failOn`: by default `high`. */
export const writerOf = (
  format: MachineFormat,
  { failOn = FAIL_ON, ...setup }: Omit<Setup, 'failOn'> & { readonly failOn?: Severity | undefined },
): Writer => WRITERS[format]({ ...setup, failOn })

const WRITERS: Readonly<Record<MachineFormat, (setup: Setup) => Writer>> = {
  github: (setup) => githubWriter(setup),
  junit: (setup) => junitWriter(setup),
  sarif: (setup) => sarifWriter(setup),
  nagios: (setup) => nagiosWriter(setup),
}

/** Maximum number of annotations written per run; GitHub shows 10 of each kind per step. */
const MAX_ANNOTATIONS = 50

const LEVELS: Readonly<Record<Issue['severity'], string>> = {
  critical: 'error',
  high: 'error',
  medium: 'warning',
  low: 'notice',
  info: 'notice',
}

/**
 * Workflow commands of GitHub Actions: an annotation for each finding of severity `low` or more, and the verdict as
 * plain text.
 */
function githubWriter({ file }: Pick<Setup, 'file'>): Writer {
  const place = file === undefined ? '' : `file=${property(file)},`
  return {
    each: (outcome) => {
      const issues = outcome.issues.filter(({ severity }) => severity !== 'info').slice(0, MAX_ANNOTATIONS)
      const lines = issues.map(
        ({ id, severity, title, detail, repair, accepted }) =>
          `::${accepted === undefined ? LEVELS[severity] : 'notice'} ${place}title=${property(`${outcome.target}: ${title} (${id})`)}::${data([accepted, detail, repair].filter((text) => text !== undefined).join(' '))}`,
      )
      return [...lines, ...verdictOf(outcome)].map((line) => `${line}\n`).join('')
    },
    end: () => '',
  }
}

function verdictOf({ target, line, verdict }: Outcome): readonly string[] {
  const text = `${target}: ${line}`
  // Plain text must not begin like a command of the runner.
  if (verdict === 'good' || verdict === 'bad') return [withoutHashes(printable(text, 1_000).replace(/^[:#]+/, ''))]
  return [`::${verdict === 'refused' ? 'error' : 'warning'} title=${property(target)}::${data(line)}`]
}

/**
 * The escapes of actions/toolkit for the text after `::` and for property values. Line breaks are kept; other control
 * characters become spaces.
 */
const data = (text: string): string =>
  text
    .split(/\r?\n/)
    .map((line) => withoutHashes(printable(line, 4_000)).replaceAll('%', '%25'))
    .join('%0A')

/** No command of Azure Pipelines, nor one of the older form. */
const withoutHashes = (text: string): string => text.replaceAll(/##(?=(?:vso)?\[)/gi, '# #')

const property = (text: string): string =>
  withoutHashes(printable(text, 500)).replaceAll('%', '%25').replaceAll(':', '%3A').replaceAll(',', '%2C')

/**
 * JUnit XML: a suite for each target, a case for each check and one for the verdict. A check fails if it has findings
 * at or above `--fail-on` (default high). An unknown result and one with accepted findings are skipped with the reason,
 * never passed; a request without an answer is an error.
 */
const junitWriter = (setup: Setup): Writer => ({
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
      (issue) => issue.accepted === undefined && reaches(issue.severity, failOn),
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
  const accepted = issues.flatMap((issue) => issue.accepted ?? [])
  if (accepted.length > 0)
    return { name, kind: 'skipped', inner: element('skipped', { message: accepted.join('; ') }, '') + out }
  return { name, kind: 'passed', inner: out }
}

const words = ({ id, severity, detail, repair, accepted }: Issue): string =>
  [`${severity} ${id}: ${detail}`, accepted, repair].filter((one) => one !== undefined).join('\n')

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

/** States of a plugin by exit status (Monitoring Plugins Development Guidelines §2.3). */
const NAMES = ['OK', 'WARNING', 'CRITICAL', 'UNKNOWN'] as const
/** The state of several targets: the first of these that any of them has. */
const WORST = [2, 1, 3, 0] as const

/**
 * The line of a Nagios plugin with performance data, and its exit status: a finding at or above `--fail-on` (default
 * high), a score below `--min-score`, an undeliverable address and a listing are CRITICAL, a finding of medium severity
 * is WARNING, an unknown result is UNKNOWN. What is accepted counts as nothing.
 */
function nagiosWriter(setup: Pick<Setup, 'failOn'>): Writer {
  const stateOf = (all: readonly Outcome[]): number => {
    const states = all.map((outcome) => state(outcome, setup))
    return WORST.find((one) => states.includes(one)) ?? 3
  }
  return {
    each: () => '',
    end: (all) => {
      const [first] = all
      const [one, name] = [all.length === 1, NAMES[stateOf(all)] ?? 'UNKNOWN']
      const summary = one ? `${first?.target}: ${first?.line}` : `${all.length} targets, ${countOf(all, setup)}`
      const data = all.flatMap(({ target, score }) =>
        score === undefined ? [] : [`${one ? 'score' : `'${label(target)}'`}=${score};;;0;100`],
      )
      const worse = all.filter((outcome) => state(outcome, setup) !== 0)
      const details = worse.flatMap(({ target, line, issues }) => [
        ...(one ? [] : [`${target}: ${line}`]),
        ...issues
          .filter(({ severity }) => reaches(severity, 'medium'))
          .flatMap(({ title, detail, repair, isStep, accepted }) => [
            `${title}: ${detail}${accepted === undefined ? '' : ` (${accepted})`}`,
            ...(isStep ? (repair ?? '').split('\n') : []),
          ]),
      ])
      const text = `MAILSONDE ${name} - ${nagiosText(summary)}${data.length === 0 ? '' : ` | ${data.join(' ')}`}`
      return `${[text, ...details.map(nagiosText)].join('\n')}\n`
    },
    status: stateOf,
  }
}

function state({ verdict, issues }: Outcome, { failOn }: Pick<Setup, 'failOn'>): number {
  const open = issues.filter(({ accepted }) => accepted === undefined)
  if (verdict === 'bad' || open.some(({ severity }) => reaches(severity, failOn))) return 2
  if (verdict !== 'good') return 3
  return open.some(({ severity }) => reaches(severity, 'medium')) ? 1 : 0
}

function countOf(all: readonly Outcome[], setup: Pick<Setup, 'failOn'>): string {
  const states = all.map((outcome) => state(outcome, setup))
  return WORST.flatMap((one) => {
    const count = states.filter((state) => state === one).length
    return count === 0 ? [] : [`${count} ${NAMES[one]}`]
  }).join(', ')
}

/** `|` begins the performance data. */
const nagiosText = (text: string): string => withoutCommands(printable(text, 1_000).replaceAll('|', '/'))
const label = (text: string): string => withoutCommands(printable(text, 100)).replaceAll(/['=|]/g, '_')

/** Maximum number of results per run: GitHub accepts 25,000 and shows 5,000. */
const MAX_RESULTS = 5_000

const SARIF_LEVELS: Readonly<Record<Issue['severity'], 'error' | 'warning' | 'note'>> = {
  critical: 'error',
  high: 'error',
  medium: 'warning',
  low: 'note',
  info: 'note',
}
/** GitHub sorts by these values (`security-severity`: over 9 critical, over 7 high, over 4 medium). */
const WEIGHTS: Readonly<Record<Issue['severity'], string>> = {
  critical: '9.5',
  high: '8.0',
  medium: '5.5',
  low: '3.0',
  info: '0.0',
}

/**
 * One SARIF 2.1.0 log: a result for each finding, its rule with the repair, and a notification for each target without
 * a result.
 */
const sarifWriter = ({ version, file }: Setup): Writer => ({
  each: () => '',
  end: (all) => {
    const found = all.flatMap((outcome) => outcome.issues.map((issue) => ({ outcome, issue }))).slice(0, MAX_RESULTS)
    const rules = [...new Map(found.map(({ issue }) => [issue.id, issue])).values()]
    const at = new Map(rules.map(({ id }, i) => [id, i]))
    const log = {
      $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
      version: '2.1.0',
      runs: [
        {
          tool: { driver: { name: 'mailsonde', semanticVersion: version, rules: rules.map(ruleOf) } },
          invocations: [
            {
              executionSuccessful: all.every(({ verdict }) => verdict === 'good' || verdict === 'bad'),
              toolExecutionNotifications: all.flatMap(notificationOf),
            },
          ],
          results: found.map(({ outcome, issue }) => resultOf(outcome, issue, at.get(issue.id) ?? -1, file)),
        },
      ],
    }
    return `${JSON.stringify(log, null, 2)
      .split('\n')
      .map(escapeUnsafe)
      .join('\n')
      .replaceAll(/##(?=(?:vso)?\[)/gi, '#\\u0023')}\n`
  },
})

const message = (text: string) => ({ text: printable(text, 4_000) || ' ' })

const ruleOf = ({ id, title, severity, repair, isStep, reference }: Issue) => ({
  id,
  name: id
    .split(/[._-]/)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join(''),
  shortDescription: message(title),
  defaultConfiguration: { level: SARIF_LEVELS[severity] },
  ...(repair !== undefined && !isStep && { help: message(repair) }),
  properties: {
    'security-severity': WEIGHTS[severity],
    tags: ['mail', id.split('.')[0]!],
    ...(reference !== undefined && { reference }),
  },
})

/** GitHub accepts no result without a file: the file of `--expect`, else the target in its place. */
const resultOf = ({ target }: Outcome, issue: Issue, ruleIndex: number, file: string | undefined) => ({
  ruleId: issue.id,
  ruleIndex,
  level: SARIF_LEVELS[issue.severity],
  // A rule is about all targets, a step about one.
  message: message([`${target}: ${issue.detail}`, ...(issue.isStep ? [issue.repair] : [])].join('\n')),
  locations: [
    {
      physicalLocation: {
        artifactLocation: { uri: encodeURI((file ?? printable(target, 500)).replaceAll('\\', '/')) },
        region: { startLine: 1 },
      },
      logicalLocations: [{ fullyQualifiedName: printable(target, 500), kind: 'resource' }],
    },
  ],
  ...(issue.accepted !== undefined && {
    suppressions: [{ kind: 'external', status: 'accepted', justification: printable(issue.accepted, 1_500) }],
  }),
  partialFingerprints: { 'mailsonde/v1': `${printable(target, 500)}:${issue.id}` },
})

function notificationOf({ target, verdict, line }: Outcome) {
  if (verdict === 'good' || verdict === 'bad') return []
  return [{ level: verdict === 'refused' ? 'error' : 'warning', message: message(`${target}: ${line}`) }]
}
