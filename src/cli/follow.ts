import { sleep } from '../base/deadline.ts'
import type { Given } from '../operations/given.ts'
import { hint } from './problems.ts'
import type { Work } from './work.ts'

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
        setting.service
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
