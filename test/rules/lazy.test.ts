import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { built } from '../support/built.ts'

const data = (program: string) => `data:text/javascript,${encodeURIComponent(program)}`
/** Tells each package that an ES module asks for. */
const hooks = data(`import { writeSync } from 'node:fs'
  export const resolve = (name, context, next) => {
    if (/^[^.\\/]/.test(name) && !/^(node|file|data):/.test(name)) writeSync(1, name + '\\n')
    return next(name, context)
  }`)

describe('the start of a worker', () => {
  it('leaves libraries of files, mail and providers to the first job that needs them', async function () {
    this.timeout(120_000)
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--import',
      data(`import { register } from 'node:module'; register(${JSON.stringify(hooks)})`),
      join(await built(), 'workers/processors.js'),
    ])
    const loaded = new Set(stdout.split('\n').map((name) => name.split('/')[0]))
    expect(loaded).to.include('ajv')
    for (const library of ['pdfkit', 'svg-to-pdfkit', 'yazl', 'csv-stringify', 'nodemailer', 'stripe', 'twilio'])
      expect([...loaded]).to.not.include(library)
  })
})
