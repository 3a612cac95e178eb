import { runTool } from './processes.ts'

/**
 * Runs `work` and counts, where they arrive, the connections (SYN) that were made to port 25 of `addresses` meanwhile;
 * those that are dropped or refused too.
 */
export async function countConnections<T>(
  addresses: readonly string[],
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly connections: number }> {
  const rules = addresses.map((address) => ({ program: programFor(address), rule: syn(address) }))
  for (const { program, rule } of rules) await runTool(program, ['-w', '-I', 'INPUT', ...rule])
  try {
    const result = await work()
    const programs = [...new Set(addresses.map(programFor))]
    const lists = await Promise.all(programs.map((program) => runTool(program, ['-w', '-nvxL', 'INPUT'])))
    return {
      result,
      connections: lists.flatMap((list) => list.split('\n')).reduce((sum, line) => sum + counted(line), 0),
    }
  } finally {
    for (const { program, rule } of rules) await runTool(program, ['-w', '-D', 'INPUT', ...rule])
  }
}

const MARK = 'counted'
const programFor = (address: string): string => (address.includes(':') ? 'ip6tables' : 'iptables')
/**
 * Without a target: the rule counts and lets pass. A SYN that the kernel repeats, after a second without an answer, has
 * the port of the first one and is not counted again.
 */
const syn = (address: string): readonly string[] => [
  ...['-p', 'tcp', '-d', address, '--dport', '25', '--syn'],
  ...['-m', 'hashlimit', '--hashlimit-name', 'connections', '--hashlimit-mode', 'srcip,srcport,dstip'],
  ...['--hashlimit-upto', '1/hour', '--hashlimit-burst', '1'],
  ...['-m', 'comment', '--comment', MARK],
]
const counted = (line: string): number => (line.includes(`/* ${MARK} */`) ? Number(line.trim().split(/\s+/)[0]) : 0)
