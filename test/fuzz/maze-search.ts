import { beginCoverage } from './coverage.ts'

/**
 * `node test/fuzz/maze-search.ts SEED CASES`: searches the maze with and without coverage, and writes as JSON how many
 * cases each search tried and what it found.
 */
const coverage = beginCoverage('/test/fuzz/maze.ts')
const { default: fc } = await import('fast-check')
const { guided } = await import('./guided.ts')
const { fuzz } = await import('./run.ts')
const { broken } = await import('./arbitraries.ts')
const { maze } = await import('./maze.ts')

const target = { name: 'maze', input: broken(fc.constantFrom('a', 'b c', '')), run: maze, growth: 1 }
const bounds = { seed: Number(process.argv[2]), cases: Number(process.argv[3]), ms: 60_000 }
console.log(JSON.stringify({ guided: await guided(coverage, target, bounds), random: await fuzz(target, bounds) }))
