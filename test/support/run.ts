import { format, inspect } from 'node:util'
import { relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import Mocha from 'mocha'
import rc from '../../.mocharc.json' with { type: 'json' }
import type { Ended, Next } from '../../scripts/test.ts'
import './environment.ts'
import { begin, end, watch } from './hooks.ts'

/**
 * A run of the suite: it takes one file after the other from scripts/test.ts and reports each as it ends, with the failures apart. A
 * run is one process with services of its own, as `npm test -- <file>` is, so that no file pays for their start.
 */
const checkout = fileURLToPath(new URL('../../', import.meta.url))
const { Base, Spec } = Mocha.reporters

/** Mocha's own report without its end: that comes once, for the whole suite. */
class FileReporter extends Spec {
  override epilogue() {}
}

/** Lines that reporters write, kept until the file has ended: those of two runs would mix. */
let lines: string[] = []
Base.consoleLog = (...parts: unknown[]) => void lines.push(format(...parts))
const taken = () => {
  const text = lines.join('\n')
  lines = []
  return text
}

/**
 * Reads a file, as Mocha does but for one thing: Mocha requires it first, and a file whose types happen to be good JavaScript (`sql<Row>(trx)` compares) would run
 * as that. A file that cannot be read has failed.
 */
const load = async (mocha: Mocha, file: string): Promise<string> => {
  mocha.suite.emit('pre-require', globalThis, file, mocha)
  try {
    mocha.suite.emit('require', await import(pathToFileURL(file).href), file, mocha)
    mocha.suite.emit('post-require', globalThis, file, mocha)
    return ''
  } catch (error) {
    return `\n${inspect(error)}\n`
  }
}

const runFile = async (file: string): Promise<Ended> => {
  const since = performance.now()
  const { timeout, slow } = rc
  const mocha = new Mocha({ timeout, slow, forbidOnly: rc['forbid-only'], reporter: FileReporter })
  const refused = await load(mocha, file)
  watch(mocha.suite)
  const failures: Mocha.Test[] = []
  const { passes = 0, pending = 0 } = await new Promise<Partial<Mocha.Stats>>((resolve) => {
    const runner = mocha.run(() => resolve(runner.stats ?? {}))
    runner.on('fail', (test) => failures.push(test))
  })
  // Or it would take what is thrown in the next file for its own.
  mocha.dispose()
  const report = taken()
  if (failures.length > 0) Base.list(failures)
  return {
    file: relative(checkout, file),
    passes,
    pending,
    failures: failures.length + (refused ? 1 : 0),
    report,
    failed: refused + taken(),
    seconds: (performance.now() - since) / 1000,
  }
}

const next = (ended: Ended | null): Promise<Next> =>
  new Promise((resolve) => {
    process.once('message', resolve)
    process.send?.(ended)
  })

// Mocha lets these pass while a file runs; between two files they would end the run.
process.on('unhandledRejection', (reason) => console.error('a rejection that nothing awaits:', reason))

begin()
let { file } = await next(null)
while (file !== null) file = (await next(await runFile(file))).file
process.disconnect()
await end()
