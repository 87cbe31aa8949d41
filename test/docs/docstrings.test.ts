import { expect } from 'chai'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folders = ['api', 'bench', 'config', 'db', 'jobs', 'scripts', 'test', 'workers']
/** Words that make a sentence lean on its neighbours: a docstring stands alone. */
const leaning = /^\s*\/\*\*(?: |\n\s*\* )(?:Who|What|Whether|How|Where|When|Which|The same)\b/gm

describe('Docstrings', () => {
  it('begin with a subject, in every file but migrations, which never change', () => {
    const files = folders.flatMap((folder) =>
      readdirSync(`${root}/${folder}`, { recursive: true }).map((name) => `${folder}/${String(name)}`),
    )
    const found = files
      .filter((file) => file.endsWith('.ts') && !file.startsWith('db/migrations/'))
      .flatMap((file) =>
        (readFileSync(`${root}/${file}`, 'utf8').match(leaning) ?? []).map((text) => `${file}: ${text.trim()}`),
      )
    expect(files.length).to.be.above(1_000)
    expect(found).to.deep.equal([])
  })
})
