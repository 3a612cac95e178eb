import { inOrder } from '../base/at-most.ts'
import { sleep } from '../base/deadline.ts'
import { AppError } from '../base/errors.ts'
import { formatJson } from '../base/json.ts'
import { printable } from '../base/text.ts'
import type { Given, Upload } from '../operations/operation.ts'
import type { Asked } from './commands.ts'
import { failed, type MachineFormat, type Outcome, outcomeOf, type Writer } from './machine/outcome.ts'
import { commandError, hint } from './problems.ts'
import { withSpinner } from './progress.ts'
import { inputOf, interruption, openSession, type Setting, type Work } from './session.ts'
import { recordOf, show, withoutCommandsIn } from './show.ts'
import { CLOSED_PIPE, EXIT, exitOf, isClosedPipe, statusOf, USAGE, verdictOf, worstStatus } from './status.ts'
import { type Form, readView, type View } from './view-flags.ts'

/** Characters that clear a terminal and move the cursor to the top. */
const CLEAR = '\u001b[2J\u001b[3J\u001b[H'

/**
 * Runs one operation for the command line, in this process or on a server, prints the answer and returns the exit
 * status.
 */
export async function operate(asked: Omit<Asked, 'flags'>, setting: Setting): Promise<number> {
  const { operation, targets } = asked
  const isSeveral =
    targets !== undefined && (targets.texts.length > 1 || (targets.texts.includes('-') && !targets.areFiles))
  const view = readView(operation, asked.view, { onTerminal: setting.onTerminal, several: isSeveral })
  refuseBadInput(asked, view)
  const interrupted = interruption()
  const { stopped } = interrupted
  let done = 0
  try {
    const session = await openSession(setting, stopped)
    try {
      const work: Work = { asked, view, setting, session, stopped }
      const round = isSeveral || view.form.kind === 'machine' || view.also.length > 0 ? severalTargets : oneAnswer
      if (view.everyMs === undefined) done = await round(work)
      else await repeated(view.everyMs, work, round)
    } finally {
      await session.close()
    }
    return interrupted.status() ?? done
  } catch (error) {
    const status = interrupted.status()
    if (status !== undefined) return status
    if (isClosedPipe(error)) return CLOSED_PIPE
    throw error
  } finally {
    interrupted.release()
    setting.tell('')
  }
}

/** Validates the input before any request, so that a typing error costs nothing. Throws AppError. */
function refuseBadInput({ operation, raw, targets }: Omit<Asked, 'flags'>, view: View): void {
  const input = inputOf(operation, raw, view)
  const typed = targets?.texts.filter((text) => text !== '-') ?? []
  if (!targets || targets.areFiles) operation.ask(input)
  else for (const text of typed) operation.ask({ ...input, [targets.name]: text })
}

/** A file, or a text in place of one. */
function uploadOf({ asked, setting, stopped }: Pick<Work, 'asked' | 'setting' | 'stopped'>, target: string): Upload {
  const { operation, targets } = asked
  if (!targets?.areContents) return setting.openUpload(target, stopped, operation.uploads)
  return { octets: ReadableStream.from([Buffer.from(target)]), contentType: 'text/plain' }
}

async function oneAnswer(work: Work): Promise<number> {
  const { asked, view, setting, session, stopped } = work
  const { operation, targets, upload } = asked
  const target = targets?.texts[0]
  const file = targets?.areFiles ? target : upload
  const raw = {
    ...inputOf(operation, asked.raw, view),
    ...(targets && !targets.areFiles && { [targets.name]: target }),
  }
  const body = file === undefined ? undefined : uploadOf(work, file)
  const words = target === undefined ? operation.name : `${operation.name} ${target}`
  const tell = setting.showsSpinner ? setting.tell : undefined
  const first = await withSpinner(words, tell, session.ask(operation, raw, body))
  stopped.throwIfAborted() // partial results are not an answer
  const given = view.wait ? await follow(work, first) : first
  if (given.stream) {
    const text = setting.intoFile ? given.stream.text : withoutCommandsIn(given.stream)
    for await (const piece of text) await setting.write(piece.toString())
    return exitOf(given.verdict(), view.wanted)
  }
  return await give(work, given, target)
}

async function give({ asked, view, setting }: Work, given: Given, target: string | undefined): Promise<number> {
  const { operation } = asked
  const verdict = verdictOf(given, recordOf({ operation, given }), view.wanted)
  if (view.form.kind === 'machine') throw new Error('formats for programs are written by severalTargets')
  const inLines = view.everyMs !== undefined && !setting.onTerminal
  const text = await show({ operation, given, verdict, target }, view.form, {
    version: setting.version,
    look: setting.look,
    inLines,
    all: view.all,
  })
  await setting.write(view.everyMs !== undefined && setting.onTerminal ? `${CLEAR}${text}` : text)
  return exitOf(verdict, view.wanted)
}

const FOLLOW_EVERY_MS = 1_000

/** Reports the progress of background work until it ends or Ctrl-C is pressed; returns the last state. */
export async function follow({ asked, session, setting, stopped }: Work, first: Given): Promise<Given> {
  const { operation } = asked
  const by = operation.followedBy === undefined ? undefined : await setting.find(operation.followedBy)
  let given = first
  for (let progress = given.progress(); by && progress && !progress.hasEnded; progress = given.progress()) {
    setting.tell(progress.line)
    await sleep(FOLLOW_EVERY_MS, stopped).catch(() => {})
    if (stopped.aborted) {
      const words = `mailsonde ${by.name} ${Object.values(progress.raw).join(' ')} --wait`
      setting.tell('')
      setting.complain(
        setting.service && !setting.service.fetch
          ? hint('job_continues', { command: `${words} --server ${withoutSecrets(setting.service.server)}` }).text
          : hint('job_kept', { command: words }).text,
      )
      return given
    }
    given = await session.ask(by, progress.raw)
  }
  setting.tell(given.progress()?.line ?? '', true)
  return given
}

/** A URL for display, without user name and password. */
function withoutSecrets(text: string): string {
  const url = URL.parse(text)
  if (!url || (url.username === '' && url.password === '')) return text
  url.username = ''
  url.password = ''
  return url.href
}

/**
 * Runs a round, waits `everyMs`, and repeats this until the work is stopped. If a service could not be reached (exit
 * status 3), reports this and waits for the next round; any other problem rejects.
 */
async function repeated(everyMs: number, work: Work, round: (work: Work) => Promise<number>): Promise<void> {
  const { stopped, setting } = work
  while (!stopped.aborted) {
    try {
      await round(work)
    } catch (error) {
      if (!(error instanceof AppError) || statusOf(error) !== EXIT.unclear || stopped.aborted) throw error
      setting.complain(`mailsonde: ${error.message}`)
    }
    await sleep(everyMs, stopped).catch(() => {})
  }
}

/** Maximum number of targets that are processed at the same time. */
const AT_A_TIME = 8
/** Maximum number of outcomes that a format buffers before it writes them. */
const MAX_KEPT = 10_000

/** The outcome of one target: its text in each requested format, and its exit status. */
type Result = { readonly texts: readonly string[]; readonly status: number; readonly outcome: Outcome }

/**
 * Processes many targets, at most 8 at a time, and writes the answers in the order of the targets. Returns the worst
 * exit status, or that of the format.
 */
async function severalTargets(work: Work): Promise<number> {
  const { view, setting, stopped } = work
  const [own, ...others] = await Promise.all(
    formsOf(view).map((form) => (form.kind === 'machine' ? machineWriter(work, form.format) : undefined)),
  )
  const kept: Outcome[] = []
  const filed: string[] = view.also.map(() => '')
  let status = 0
  for await (const { texts, status: one, outcome } of inOrder(AT_A_TIME, targetsOf(work), (target) =>
    askOne(work, target),
  )) {
    if (stopped.aborted) throw stopped.reason
    status = worstStatus(status, one)
    if (own || others.length > 0) {
      kept.push(outcome)
      if (kept.length > MAX_KEPT) throw commandError('targets', { max: MAX_KEPT })
    }
    for (const [i, writer] of others.entries()) filed[i] += writer?.each(outcome) ?? texts[i + 1]!
    const text = own ? own.each(outcome) : texts[0]!
    if (text !== '') await setting.write(text)
    else if (!own) setting.complain(`mailsonde: ${printable(outcome.target, 200)}: ${outcome.line}`)
  }
  for (const [i, { path }] of view.also.entries()) setting.writeFile(path, filed[i] + (others[i]?.end(kept) ?? ''))
  if (!own) return status
  await setting.write(own.end(kept))
  return own.status?.(kept) ?? status
}

/** The formats of the answers: that of standard output, and those of files. */
const formsOf = ({ form, also }: View): readonly Form[] => [form, ...also.map((one) => one.form)]

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
    const body = areFiles && target !== undefined ? uploadOf({ asked, setting, stopped }, target) : undefined
    const given = await session.ask(operation, raw, body)
    const answer = recordOf({ operation, given })
    const verdict = verdictOf(given, answer, view.wanted)
    const about = { version: setting.version, look: setting.look, inLines: true }
    const texts = formsOf(view).map((form) =>
      form.kind === 'machine' ? '' : show({ operation, given, verdict, target: name }, form, about),
    )
    return {
      texts: await Promise.all(texts),
      status: exitOf(verdict, view.wanted),
      outcome: outcomeOf(operation.name, name, verdict, answer),
    }
  } catch (error) {
    if (!(error instanceof AppError) || stopped.aborted) throw error
    const status = statusOf(error)
    const outcome = failed(operation.name, name, status === USAGE ? 'refused' : 'unclear', error.message)
    const line = { [targets?.name ?? 'target']: name, error: { code: error.code, detail: error.message } }
    const texts = formsOf(view).map((form) =>
      form.kind === 'fields' || (form.kind === 'answer' && form.format === 'json') ? `${formatJson(line)}\n` : '',
    )
    return { texts, status, outcome }
  }
}
