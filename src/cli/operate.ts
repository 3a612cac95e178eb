import type { Given } from '../operations/given.ts'
import type { Asked } from './commands.ts'
import { follow } from './follow.ts'
import { interruption, openSession } from './session.ts'
import { severalTargets } from './several.ts'
import { recordOf, show } from './show.ts'
import { withSpinner } from './spinner.ts'
import { CLOSED_PIPE, exitOf, isClosedPipe, verdictOf } from './status.ts'
import { readView, type View } from './view-flags.ts'
import { repeated } from './watch.ts'
import { withoutCommandsIn } from './without-commands.ts'
import { inputOf, type Setting, type Work } from './work.ts'

/** Characters that clear a terminal and move the cursor to the top. */
const CLEAR = '\u001b[2J\u001b[3J\u001b[H'

/** Runs one operation for the command line, in this process or on a server, prints the answer and returns the exit status. */
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
      const round = isSeveral || view.form.kind === 'machine' ? severalTargets : oneAnswer
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

/** One question and its answer. */
async function oneAnswer(work: Work): Promise<number> {
  const { asked, view, setting, session, stopped } = work
  const { operation, targets, upload } = asked
  const target = targets?.texts[0]
  const file = targets?.areFiles ? target : upload
  const raw = {
    ...inputOf(operation, asked.raw, view),
    ...(targets && !targets.areFiles && { [targets.name]: target }),
  }
  const body = file === undefined ? undefined : setting.openUpload(file, stopped, operation.uploads)
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
