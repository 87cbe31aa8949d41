import { expect } from 'chai'
import { once } from 'node:events'
import { gunzipSync, brotliDecompressSync } from 'node:zlib'
import { request } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import Koa from 'koa'
import type { AddressInfo } from 'node:net'
import { documentation } from '../../api/docs/index.ts'
import { openApi } from '../../api/lib/openapi.ts'
import { chaptersOf } from '../../api/lib/tags.ts'
import { routes } from '../../api/routes.ts'
import { browserOnPath, openBrowser } from '../support/browser.ts'
import { useWorld } from '../support/world.ts'

type Reply = { status: number; headers: IncomingHttpHeaders; bytes: Buffer }

/** A request whose reply is shown as it was sent: fetch would decompress it. */
const ask = (address: string, method = 'GET', headers: Record<string, string> = {}): Promise<Reply> =>
  new Promise((resolve, reject) => {
    request(address, { method, headers }, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(parts) }),
      )
    })
      .on('error', reject)
      .end()
  })

describe('Pages for people', () => {
  const world = useWorld()
  const at = (path: string) => `${world.baseUrl}${path}`

  it('begin at the bare address, whose links all lead somewhere', async () => {
    const { status, bytes } = await ask(at('/'))
    expect(status).to.equal(200)
    const links = [...String(bytes).matchAll(/href="(\/[^"]*)"/g)].map(([, link = '']) => link)
    expect(links[0]).to.equal('/superuser/ops')
    expect(links).to.include.members(['/api/docs', '/guides/authentication', '/guides/portal'])
    for (const link of links) {
      // Operators sign in first.
      const expected = link.startsWith('/superuser/') ? [200, 302, 303, 401] : [200]
      expect(expected, link).to.include((await ask(at(link))).status)
    }
  })

  it('are found where people look for them', async () => {
    const led = async (path: string) => (await ask(at(path))).headers.location
    for (const path of ['/api', '/api/', '/api/docs/', '/docs']) expect(await led(path), path).to.equal('/api/docs')
    expect(await led('/superuser')).to.equal('/superuser/ops')
    for (const path of ['/guides', '/guides/']) expect(await led(path), path).to.equal('/')
    expect((await ask(at('/favicon.ico'))).status).to.equal(204)
  })

  it('list every operation under a tag that says what it is about', async () => {
    const text = String((await ask(at('/api/docs'))).bytes)
    const document = openApi(routes) as { paths: Record<string, Record<string, { operationId: string }>> }
    for (const { operationId } of Object.values(document.paths).flatMap((methods) => Object.values(methods)))
      expect(text).to.contain(`/${operationId}"`)
    const tags = [...new Set(routes.map(({ id }) => id.split('.')[0] ?? ''))]
    const silent = chaptersOf(tags).flatMap((chapter) => chapter.tags.filter(({ description }) => description === ''))
    expect(silent.map(({ name }) => name)).to.deep.equal([])
  })

  it('have for each tag a document that is whole, and none for what is no tag', async () => {
    for (const tag of ['seasons', 'public', 'folios']) {
      const part = JSON.parse(String((await ask(at(`/api/docs/${tag}.json`))).bytes)) as {
        paths: object
        components: Record<string, Record<string, unknown>>
      }
      const named = [...JSON.stringify(part).matchAll(/"#\/components\/([^/"]+)\/([^"]+)"/g)]
      for (const [, section = '', name = ''] of named)
        expect(part.components[section]?.[name], `${section}/${name}`).to.not.equal(undefined)
      expect(Object.keys(part.paths).length).to.be.greaterThan(0)
    }
    for (const path of ['nothing', 'nothing.json', 'assets/nothing.js', 'seasons/more', '__proto__', 'assets/toString'])
      expect((await ask(at(`/api/docs/${path}`))).status, path).to.equal(404)
    expect((await ask(at('/guides/../../package'))).status).to.equal(404)
  })

  it('make the document once, whatever names are asked for', async () => {
    let made = 0
    const app = new Koa()
    app.use(
      documentation(() => {
        made += 1
        return Promise.resolve(JSON.stringify(openApi(routes)))
      }),
    )
    const server = app.listen(0, '127.0.0.1')
    await once(server, 'listening')
    try {
      const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      for (const path of ['docs/nothing', 'docs/nothing.json', 'docs/seasons', 'docs/seasons.json', 'openapi.json'])
        expect((await ask(`${base}/api/${path}`)).status, path).to.equal(path.includes('nothing') ? 404 : 200)
      expect(made).to.equal(1)
    } finally {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  })

  const browser = browserOnPath()
  if (browser !== null)
    it('show operations at 713 of them, search them, and load nothing from elsewhere', async () => {
      const several = Array.from({ length: 4 }, (_, copy) =>
        routes.map((route) =>
          copy === 0 ? route : { ...route, id: `${route.id}${copy}`, path: `${route.path}/v${copy}` },
        ),
      )
      const app = new Koa()
      const document = JSON.stringify(openApi(several.flat().slice(0, 713)))
      app.use(documentation(() => Promise.resolve(document)))
      const server = app.listen(0, '127.0.0.1')
      await once(server, 'listening')
      const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const opened = await openBrowser(browser)
      try {
        const page = await opened.newPage()
        const foreign: string[] = []
        const problems: string[] = []
        page.on('request', (sent) => {
          if (!sent.url().startsWith(base) && !sent.url().startsWith('data:')) foreign.push(sent.url())
        })
        page.on('console', (line) => {
          if (line.type() === 'error') problems.push(line.text())
        })
        await page.goto('about:blank')
        await page.goto(`${base}/api/docs`, { waitUntil: 'commit' })
        await page.locator('ul.operations li').first().waitFor()
        expect(await page.locator('ul.operations li').count()).to.equal(713)
        await page.locator('#search').fill('replace season')
        const found = page.locator('ul.operations li:not([hidden]) a')
        expect(await found.first().textContent()).to.equal('Replace the set of seasons')
        expect(await found.count()).to.be.lessThan(10)
        await found.first().click()
        await page.locator('#operations-seasons-replaceSeasons.is-open').waitFor({ timeout: 20_000 })
        await page
          .locator('#operations-seasons-replaceSeasons', { hasText: 'seasons_overlap' })
          .waitFor({ timeout: 20_000 })
        expect([foreign, problems]).to.deep.equal([[], []])
      } finally {
        await opened.close()
        server.closeAllConnections()
        await new Promise((resolve) => server.close(resolve))
      }
    }).timeout(60_000)

  it('and replies are compressed where they are large and the caller takes that', async () => {
    const plain = await ask(at('/api/openapi.json'))
    expect(plain.headers['content-encoding']).to.equal(undefined)
    for (const [name, open] of [
      ['br', brotliDecompressSync],
      ['gzip', gunzipSync],
    ] as const) {
      const { headers, bytes } = await ask(at('/api/openapi.json'), 'GET', { 'accept-encoding': name })
      expect([headers['content-encoding'], headers.vary]).to.deep.equal([name, 'Accept-Encoding'])
      expect(bytes.length).to.be.lessThan(plain.bytes.length / 5)
      expect(open(bytes).equals(plain.bytes)).to.equal(true)
    }
    const small = await ask(at('/api/nothing'), 'GET', { 'accept-encoding': 'br, gzip' })
    expect([small.status, small.headers['content-encoding']]).to.deep.equal([404, undefined])
    expect(String(small.bytes).endsWith('}\n')).to.equal(true)
  })

  it('and a method that an address does not take is refused with those that it takes', async () => {
    const { status, headers, bytes } = await ask(at('/api/public/quotes'))
    expect([status, headers.allow]).to.deep.equal([405, 'POST'])
    expect(JSON.parse(String(bytes))).to.include({ statusCode: 405, code: 'method_not_allowed' })
    const seasons = `/api/tenants/${'0'.repeat(8)}-0000-4000-8000-${'0'.repeat(12)}/properties/x/seasons`
    expect((await ask(at(seasons), 'DELETE')).headers.allow).to.equal('GET, HEAD, PUT')
    expect((await ask(at('/api/public/nothing'), 'POST')).status).to.equal(404)
  })
})
