import { escapeUnsafe, printable } from '../../base/text.ts'
import type { Setup, Writer } from './names.ts'
import type { Issue, Outcome } from './outcome.ts'

/** Maximum number of results per run: GitHub accepts 25,000 and shows 5,000. */
const MAX_RESULTS = 5_000

const LEVELS: Readonly<Record<Issue['severity'], 'error' | 'warning' | 'note'>> = {
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

/** One SARIF 2.1.0 log: a result for each finding, its rule with the repair, and a notification for each target without a result. */
export const sarifWriter = ({ version, file }: Setup): Writer => ({
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

const ruleOf = ({ id, title, severity, repair, reference }: Issue) => ({
  id,
  name: id
    .split(/[._-]/)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join(''),
  shortDescription: message(title),
  defaultConfiguration: { level: LEVELS[severity] },
  ...(repair !== undefined && { help: message(repair) }),
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
  level: LEVELS[issue.severity],
  message: message(`${target}: ${issue.detail}`),
  locations: [
    {
      physicalLocation: {
        artifactLocation: { uri: encodeURI((file ?? printable(target, 500)).replaceAll('\\', '/')) },
        region: { startLine: 1 },
      },
      logicalLocations: [{ fullyQualifiedName: printable(target, 500), kind: 'resource' }],
    },
  ],
  partialFingerprints: { 'mailsonde/v1': `${printable(target, 500)}:${issue.id}` },
})

function notificationOf({ target, verdict, line }: Outcome) {
  if (verdict === 'good' || verdict === 'bad') return []
  return [{ level: verdict === 'refused' ? 'error' : 'warning', message: message(`${target}: ${line}`) }]
}
