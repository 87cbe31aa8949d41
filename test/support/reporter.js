import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import mocha from 'mocha'

const tests = fileURLToPath(new URL('../', import.meta.url))

/**
 * Mocha's own report, and a last line that a machine reads. What each file took, hooks included, goes to the file that TEST_SECONDS
 * names. Not TypeScript: Mocha loads it before the loader of tsx applies.
 */
export class SummaryReporter extends mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options)
    const seconds = {}
    let since = 0
    const isOfFile = (suite) => suite.parent?.root
    runner.on('suite', (suite) => {
      if (isOfFile(suite)) since = performance.now()
    })
    runner.on('suite end', (suite) => {
      if (!isOfFile(suite)) return
      const name = relative(tests, suite.file).replace(/\.test\.ts$/, '')
      seconds[name] = (seconds[name] ?? 0) + (performance.now() - since) / 1000
    })
    runner.once('end', () => {
      const { passes, failures, pending } = this.stats
      if (process.env.TEST_SECONDS) writeFileSync(process.env.TEST_SECONDS, JSON.stringify(seconds))
      process.once('exit', () => console.log(`${passes} passed, ${failures} failed, ${pending} skipped`))
    })
  }
}

export { SummaryReporter as 'module.exports' }
