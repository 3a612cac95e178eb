import { expect, it } from 'vitest'
import { labActions } from '../../test/lab/actions.ts'
import { allOperations } from '../operations/registry.ts'
import { runCommandLine } from './program.ts'

const operations = await allOperations()

it.each<[words: string, asked: string]>([
  ['jobs', 'jobs list'],
  ['jobs --limit 5', 'jobs list'],
  ['monitors --json data', 'monitors list'],
  ['webhooks', 'webhooks list'],
  ['keys', 'keys list'],
  ['jobs show j1', 'jobs show'],
  ['check a.example --zone a.zone', 'what-if'], // a flag leads to a part of the command
  ['reports not-mine a.example:b', 'reports mine'], // two commands of one operation
  ['jobs --help', 'Without a command: mailsonde jobs list'],
  ['jobs --limit 5 --help', 'Usage: mailsonde jobs'],
  ['saved', 'Usage: mailsonde saved'], // has no list: answers are listed by name (`history`)
  ['jobs sbmit x', 'Did you mean submit?'],
])('%s: %s', async (words, expected) => {
  let seen = ''
  const say = (text: string): number => {
    seen += `${text}\n`
    return 0
  }
  const actions = labActions({
    operate: async ({ operation }) => say(operation.name),
    keys: async ({ kind }) => say(`keys ${kind}`),
  })
  const setup = { operations, configFlags: [], version: '0', readFile: () => '', columns: 80 }
  await runCommandLine(words.split(' '), { ...setup, actions, print: say, complain: say })
  expect(seen).toContain(expected)
})

it('names the flag of a parameter that is missing', async () => {
  const complaints: string[] = []
  const actions = labActions({
    operate: async ({ operation, raw }) => {
      operation.ask({ domain: 'a.example', ...raw })
      return 0
    },
  })
  const setup = { operations, configFlags: [], version: '0', readFile: () => '', columns: 80, actions }
  expect(await runCommandLine(['dkim', 'a.example'], { ...setup, complain: (text) => complaints.push(text) })).toBe(2)
  expect(complaints).toEqual(['mailsonde: the parameter selector is required', 'give it by --selector'])
})
