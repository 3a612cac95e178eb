import { fork } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { flags, machine, residentMiB, sleep } from './figures.ts'
import { insideLab } from './inside-lab.ts'

/**
 * Continuous verifications against every mail host of the test network, some of them hostile: memory and open files
 * must not grow. `node bench/smtp-soak.ts [--count 200000] [--minutes 8] [--width 60]`. The slope is that of a straight
 * line through the samples of the second half.
 */
const options = flags(process.argv.slice(2))
const count = Number(options.count ?? 200_000)
const minutes = Number(options.minutes ?? 8)
const width = Number(options.width ?? 60)
const EVERY_MS = 10_000

type Sample = { readonly done: number; readonly mib: number; readonly files: number }

if (await insideLab()) {
  console.log(`${machine()}\n`)
  console.log('| verifications | resident MiB | open files | a second |\n|--:|--:|--:|--:|')
  const samples = await soak()
  const late = samples.slice(samples.length >> 1)
  console.log(`\nthe second half: ${slope(late).toFixed(1)} KiB of resident memory for 1,000 verifications`)
}

async function soak(): Promise<readonly Sample[]> {
  const worker = fork(join(import.meta.dirname, 'smtp-soak-worker.ts'), [JSON.stringify({ count, width, minutes })])
  const samples: Sample[] = []
  let done = 0
  let answers: Readonly<Record<string, number>> | undefined
  worker.on('message', (message: { done: number; answers?: Record<string, number> }) => {
    done = message.done
    answers = message.answers ?? answers
  })
  const ended = new Promise<number | null>((resolve) => worker.once('exit', resolve))
  let over = false
  void ended.then(() => {
    over = true
  })
  let before = 0
  while (!over) {
    await Promise.race([sleep(EVERY_MS), ended])
    if (over) break
    const sample = { done, mib: residentMiB(worker.pid!).now, files: readdirSync(`/proc/${worker.pid}/fd`).length }
    samples.push(sample)
    const rate = ((done - before) * 1_000) / EVERY_MS
    before = done
    console.log(`| ${done} | ${sample.mib.toFixed(0)} | ${sample.files} | ${rate.toFixed(0)} |`)
  }
  console.log(`\n${done} answered: ${JSON.stringify(answers)}; the worker ended with ${await ended}`)
  return samples
}

/** Slope by least squares, KiB per 1,000 verifications. */
function slope(samples: readonly Sample[]): number {
  const mean = (of: (one: Sample) => number): number => samples.reduce((sum, one) => sum + of(one), 0) / samples.length
  const [x, y] = [mean((one) => one.done), mean((one) => one.mib)]
  const over = samples.reduce((sum, one) => sum + (one.done - x) * (one.mib - y), 0)
  const under = samples.reduce((sum, one) => sum + (one.done - x) ** 2, 0)
  return under === 0 ? 0 : (over / under) * 1_024 * 1_000
}
