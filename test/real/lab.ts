import { enterLab, untilEnded } from './namespace.ts'
import { ensureMachine } from './packages.ts'
import { DOMAINS } from './world.ts'

/** `npm run lab`: the test network, until Ctrl-C; with a command behind it, that command in the test network. */
const command = process.argv.slice(2)
const machine = ensureMachine()
if (machine !== 'ready') {
  console.error(machine.wanting)
  process.exit(1)
}
const lab = enterLab(command)
if (command.length === 0) console.log(howTo())
process.exitCode = await untilEnded(lab)

function howTo(): string {
  const width = Math.max(...DOMAINS.map((row) => row.name.length))
  const table = DOMAINS.map((row) => `  ${row.name.padEnd(width)}  ${row.shows}`).join('\n')
  // setpriv becomes unshare, whose one child is the first process inside.
  const enter = `nsenter -t $(pgrep -P ${lab.pid}) -n -m -p --wd="$PWD"`
  return `${table}\n\nFrom another shell:\n  ${enter} dig +noall +answer mx accept.test\n  ${enter} npm start\nCtrl-C ends it.\n`
}
