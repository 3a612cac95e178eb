import { inOrder } from '../base/at-most.ts'
import { AppError } from '../base/errors.ts'
import { formatJson } from '../base/json.ts'
import { printable } from '../base/text.ts'
import { failed, type MachineFormat, type Outcome, outcomeOf, type Writer } from './machine/outcome.ts'
import { commandError } from './problems.ts'
import { inputOf, type Work } from './session.ts'
import { recordOf, show } from './show.ts'
import { exitOf, statusOf, USAGE, verdictOf, worstStatus } from './status.ts'

/** Maximum number of targets that are processed at the same time. */
const AT_A_TIME = 8
/** Maximum number of outcomes that a format buffers before it writes them. */
const MAX_KEPT = 10_000

/** The outcome of one target: its text in the requested format, and its exit status. */
type Result = { readonly text: string; readonly status: number; readonly outcome: Outcome }

/**
 * Processes many targets, at most 8 at a time, and writes the answers in the order of the targets. Returns the worst
 * exit status, or that of the format.
 */
export async function severalTargets(work: Work): Promise<number> {
  const { view, setting, stopped } = work
  const writer = view.form.kind === 'machine' ? await machineWriter(work, view.form.format) : undefined
  const kept: Outcome[] = []
  let status = 0
  for await (const result of inOrder(AT_A_TIME, targetsOf(work), (target) => askOne(work, target))) {
    if (stopped.aborted) throw stopped.reason
    status = worstStatus(status, result.status)
    if (writer) {
      kept.push(result.outcome)
      if (kept.length > MAX_KEPT) throw commandError('targets', { max: MAX_KEPT })
    }
    const text = writer ? writer.each(result.outcome) : result.text
    if (text !== '') await setting.write(text)
    else if (!writer) setting.complain(`mailsonde: ${printable(result.outcome.target, 200)}: ${result.outcome.line}`)
  }
  if (!writer) return status
  await setting.write(writer.end(kept))
  return writer.status?.(kept) ?? status
}

async function machineWriter({ asked, view, setting }: Work, format: MachineFormat): Promise<Writer> {
  const { writerOf } = await import('./machine/writers.ts')
  return writerOf(format, {
    version: setting.version,
    failOn: view.wanted.failOn,
    ...(asked.file !== undefined && { file: asked.file }),
  })
}

/**
 * The given targets, with the lines of standard input in place of `-`; one unnamed target if the operation has none.
 */
async function* targetsOf({ asked, setting, stopped }: Work): AsyncGenerator<string | undefined> {
  if (!asked.targets) yield undefined
  let count = 0
  for (const text of asked.targets?.texts ?? [])
    for await (const target of text === '-' && !asked.targets?.areFiles ? setting.readLines(stopped) : [text]) {
      count++
      yield target
    }
  // A gate over an empty list would be open.
  if (asked.targets && count === 0) throw commandError('no_targets')
}

async function askOne({ asked, view, setting, session, stopped }: Work, target: string | undefined): Promise<Result> {
  const { operation, targets } = asked
  const name = target ?? operation.name
  const areFiles = targets?.areFiles === true
  const raw = { ...inputOf(operation, asked.raw, view), ...(targets && !areFiles && { [targets.name]: target }) }
  try {
    const body = areFiles && target !== undefined ? setting.openUpload(target, stopped, operation.uploads) : undefined
    const given = await session.ask(operation, raw, body)
    const answer = recordOf({ operation, given })
    const verdict = verdictOf(given, answer, view.wanted)
    const { form } = view
    const text =
      form.kind === 'machine'
        ? ''
        : await show({ operation, given, verdict, target: name }, form, {
            version: setting.version,
            look: setting.look,
            inLines: true,
          })
    return { text, status: exitOf(verdict, view.wanted), outcome: outcomeOf(operation.name, name, verdict, answer) }
  } catch (error) {
    if (!(error instanceof AppError) || stopped.aborted) throw error
    const status = statusOf(error)
    const outcome = failed(operation.name, name, status === USAGE ? 'refused' : 'unclear', error.message)
    const asJson = view.form.kind === 'fields' || (view.form.kind === 'answer' && view.form.format === 'json')
    const line = { [targets?.name ?? 'target']: name, error: { code: error.code, detail: error.message } }
    return { text: asJson ? `${formatJson(line)}\n` : '', status, outcome }
  }
}
