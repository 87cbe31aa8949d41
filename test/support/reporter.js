import mocha from 'mocha'

/** Mocha's own report, and a last line that a machine reads. Not TypeScript: Mocha loads it before the loader of tsx applies. */
export class SummaryReporter extends mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options)
    runner.once('end', () => {
      const { passes, failures, pending } = this.stats
      process.once('exit', () => console.log(`${passes} passed, ${failures} failed, ${pending} skipped`))
    })
  }
}

export { SummaryReporter as 'module.exports' }
