import { printable } from '../../base/text.ts'
import type { Setup, Writer } from './names.ts'
import type { Issue, Outcome } from './outcome.ts'

/** Maximum number of annotations written per run; GitHub shows 10 of each kind per step. */
const MAX_ANNOTATIONS = 50

const LEVELS: Readonly<Record<Issue['severity'], string>> = {
  critical: 'error',
  high: 'error',
  medium: 'warning',
  low: 'notice',
  info: 'notice',
}

/** Workflow commands of GitHub Actions: an annotation for each finding of severity `low` or more, and the verdict as plain text. */
export function githubWriter({ file }: Pick<Setup, 'file'>): Writer {
  const place = file === undefined ? '' : `file=${property(file)},`
  return {
    each: (outcome) => {
      const issues = outcome.issues.filter(({ severity }) => severity !== 'info').slice(0, MAX_ANNOTATIONS)
      const lines = issues.map(
        ({ id, severity, title, detail, repair }) =>
          `::${LEVELS[severity]} ${place}title=${property(`${outcome.target}: ${title} (${id})`)}::${data([detail, repair].filter((text) => text !== undefined).join(' '))}`,
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

/** The escapes of actions/toolkit for the text after `::` and for property values. Line breaks are kept; other control characters become spaces. */
const data = (text: string): string =>
  text
    .split(/\r?\n/)
    .map((line) => withoutHashes(printable(line, 4_000)).replaceAll('%', '%25'))
    .join('%0A')

/** No command of Azure Pipelines, nor one of the older form. */
const withoutHashes = (text: string): string => text.replaceAll(/##(?=(?:vso)?\[)/gi, '# #')

const property = (text: string): string =>
  withoutHashes(printable(text, 500)).replaceAll('%', '%25').replaceAll(':', '%3A').replaceAll(',', '%2C')
