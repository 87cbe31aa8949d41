import { expect } from 'chai'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { documentOf, sealDocument } from '../../api/lib/document.ts'
import { pathSchema } from '../../api/lib/input.ts'
import { openApi } from '../../api/lib/openapi.ts'
import { routes } from '../../api/routes.ts'
import { assertCompilable } from '../../config/validator.ts'
import { jobs } from '../../jobs/all.ts'

describe('a build', () => {
  let path = ''
  let folder: URL
  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), 'sealed-'))
    folder = pathToFileURL(`${path}/`)
  })
  afterEach(() => rmSync(path, { recursive: true }))

  it('has no schema that does not compile', () => {
    assertCompilable([
      ...routes.flatMap((route) =>
        [pathSchema(route), route.query, route.body, route.returns].filter((one) => one !== undefined),
      ),
      ...jobs.map(({ payload }) => payload),
    ])
    const spoilt = [{ type: 'strin' }, { type: 'string', minLenght: 1 }, { type: 'string', format: 'uuid5' }]
    for (const schema of spoilt) expect(() => assertCompilable([schema]), JSON.stringify(schema)).to.throw()
  })

  it('is refused where routes, permissions and document differ, and leaves nothing then', () => {
    const [first] = routes
    if (!first) throw new Error('there is no route')
    expect(() => sealDocument([...routes, first], folder)).to.throw('is the id of two routes')
    expect(() => readFileSync(new URL('agreement.json', folder))).to.throw('ENOENT')
  })

  it('is what its processes run: the document as made from the routes, and no other routes or permissions', async () => {
    sealDocument(routes, folder)
    expect(JSON.parse(String(await documentOf(routes, folder)()))).to.deep.equal(
      JSON.parse(JSON.stringify(openApi(routes))),
    )
    const route = routes.find(({ access }) => access.kind === 'tenant')
    if (!route) throw new Error('there is no route of tenants')
    const others = [
      routes.slice(1),
      routes.map((one) => (one === route ? { ...one, path: `${one.path}/more` } : one)),
      routes.map((one) =>
        one === route ? { ...one, access: { kind: 'tenant' as const, action: 'read', subject: 'Guest' } } : one,
      ),
      routes.map((one) => (one === route ? { ...one, returns: { type: 'string', maxLength: 7 } } : one)),
      routes.map((one) => (one === route ? { ...one, errors: ['sold_out' as const] } : one)),
    ]
    for (const other of others) expect(() => documentOf(other, folder)).to.throw('run the build again')
  })

  it('does not answer with a document that is not its own', async () => {
    sealDocument(routes, folder)
    const read = documentOf(routes, folder)
    writeFileSync(new URL('openapi.json', folder), '{}')
    const failure = await read().catch((error: unknown) => error)
    expect(String(failure)).to.contain('not the one that was built')
  })
})
