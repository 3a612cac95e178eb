import { expect, it } from 'vitest'
import { labSetting } from '../../test/lab/setting.ts'
import { jobSubmit } from '../operations/jobs/submit.ts'
import { follow } from './follow.ts'
import type { Setting, Work } from './work.ts'

const asked = { operation: jobSubmit, raw: {} } as unknown as Work['asked']
const view = {} as Work['view']
const service = (server: string): Setting['service'] => ({
  server,
  ...{ key: 'secret', peerSecret: undefined, nodeId: undefined, now: () => 0 },
})

it.each([
  [
    service('https://mail.example/sonde'),
    'the job continues; to follow it: mailsonde jobs show job_a --wait --server https://mail.example/sonde',
  ],
  [
    service('https://joe:secret@mail.example'),
    'the job continues; to follow it: mailsonde jobs show job_a --wait --server https://mail.example/',
  ],
  [undefined, 'the job is kept; to continue it: mailsonde jobs show job_a --wait'],
])('Ctrl-C says how to come back, with the service %o', async (of, words) => {
  const said: string[] = []
  const setting: Setting = {
    ...labSetting,
    ...{ version: '0', onTerminal: false, write: async () => {} },
    open: () => Promise.reject(new Error('nothing is opened here')),
    complain: (line) => void said.push(line),
    service: of,
  }
  const session = { ask: () => Promise.reject(new Error('nothing is asked here')), close: async () => {} }
  const first = { progress: () => ({ raw: { id: 'job_a' }, line: 'running', hasEnded: false }) }
  const work: Work = { asked, view, setting, session, stopped: AbortSignal.abort() }
  await follow(work, first as unknown as Parameters<typeof follow>[1])
  expect(said).toEqual([words])
})
