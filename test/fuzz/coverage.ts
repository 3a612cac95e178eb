import { type Profiler, Session } from 'node:inspector'

/** Stretches of a script, from and to, that no input has run yet: sorted, apart from one another. */
type Stretches = readonly (readonly [from: number, to: number])[]

/** What no input has run yet, by function of the code under test; a function that is absent has never run. */
export type Missed = ReadonlyMap<string, Stretches>

/**
 * How many characters of `after` are still missed that `before` missed as well, compared with all that `before` missed:
 * whether `after` covers something that `before` does not.
 */
export function coversMore(before: Missed, after: Missed): boolean {
  for (const [place, stretches] of after) {
    const known = before.get(place)
    if (known === undefined || lengthOf(stretches) < lengthOf(known)) return true
  }
  return false
}

export type Coverage = {
  /** What is missed after what ran since the last call; what it was given does not change. */
  readonly add: (missed: Missed) => Missed
}

/**
 * Block coverage of the code whose URL contains `path`, as V8 counts it
 * (https://chromedevtools.github.io/devtools-protocol/tot/Profiler/). V8 counts blocks only in functions that it
 * compiles later: begin before the code under test is loaded. What is kept is bounded by the size of the code. Counting
 * goes on until the process ends.
 */
export function beginCoverage(path = '/src/'): Coverage {
  const session = new Session()
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  return {
    add: (missed) => {
      const all = new Map(missed)
      // The answer of a session in the same thread is there when `post` returns.
      session.post('Profiler.takePreciseCoverage', (error, answer) => {
        if (error) throw error
        for (const script of answer.result) if (script.url.includes(path)) addScript(all, script)
      })
      return all
    },
  }
}

function addScript(all: Map<string, Stretches>, { scriptId, functions }: Profiler.ScriptCoverage): void {
  for (const { ranges } of functions) {
    const [whole] = ranges
    if (whole === undefined || whole.count === 0) continue
    const place = `${scriptId}:${whole.startOffset}`
    const known = all.get(place)
    if (known?.length === 0) continue
    const now = notRun(ranges)
    all.set(place, known === undefined ? now : shared(known, now))
  }
}

/** The outermost blocks that did not run. V8 lists blocks in order, an inner one after the one that holds it. */
function notRun(ranges: readonly Profiler.CoverageRange[]): Stretches {
  const out: [number, number][] = []
  for (const { startOffset, endOffset, count } of ranges) {
    if (count === 0 && startOffset >= (out.at(-1)?.[1] ?? 0)) out.push([startOffset, endOffset])
  }
  return out
}

/** What lies in both. */
function shared(a: Stretches, b: Stretches): Stretches {
  const out: [number, number][] = []
  for (let i = 0, k = 0; i < a.length && k < b.length; ) {
    const [one, other] = [a[i]!, b[k]!]
    const [from, to] = [Math.max(one[0], other[0]), Math.min(one[1], other[1])]
    if (from < to) out.push([from, to])
    if (one[1] < other[1]) i++
    else k++
  }
  return out
}

const lengthOf = (stretches: Stretches): number => stretches.reduce((sum, [from, to]) => sum + to - from, 0)
