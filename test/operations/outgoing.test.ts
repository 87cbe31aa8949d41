import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { callOut, standIn } from '../../workers/lib/outgoing.ts'
import type { OutgoingRequest } from '../../workers/lib/outgoing.ts'
import { isPublicAddress } from '../../config/public-address.ts'

const host = 'pictures.example'

describe('Calls to addresses that somebody outside has given', () => {
  let server: Server
  let takeBack = () => {}
  let answer: (request: IncomingMessage, response: ServerResponse) => void
  const heard: string[] = []

  before(async () => {
    server = createServer((request, response) => {
      heard.push(`${request.method} ${request.headers.host}${request.url}`)
      answer(request, response)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    takeBack = standIn({ host, port: (server.address() as AddressInfo).port })
  })
  after(() => {
    takeBack()
    server.closeAllConnections()
    server.close()
  })
  beforeEach(() => void heard.splice(0))

  const call = (url: string, given: Partial<OutgoingRequest> = {}, resolve?: Parameters<typeof callOut>[1]) =>
    callOut({ url, mostBytes: 1_000, signal: new AbortController().signal, ...given }, resolve)
  const sends = (status: number, headers: Record<string, string> = {}, body = '') => {
    answer = (_, response) => response.writeHead(status, headers).end(body)
  }

  it('answers status, headers and body, and names the host that was asked for', async () => {
    sends(200, { 'content-type': 'image/png' }, 'picture')
    const reply = await call(`https://${host}/a.png?b=1`)
    expect(reply).to.deep.include({ kind: 'answered', status: 200, bytes: 7, body: Buffer.from('picture') })
    expect(heard).to.deep.equal([`GET ${host}/a.png?b=1`])
  })

  it('calls by https alone, and with no name and password in the address', async () => {
    for (const url of [`http://${host}/`, 'ftp://example.org/', 'file:///etc/passwd', 'nonsense'])
      expect(await call(url), url).to.deep.equal({ kind: 'refused', code: 'not_https' })
    for (const url of [`https://me:secret@${host}/`, `https://me@${host}/`])
      expect(await call(url), url).to.deep.equal({ kind: 'refused', code: 'user_info_refused' })
    for (const port of [22, 80, 8080])
      expect(await call(`https://${host}:${port}/`)).to.deep.equal({ kind: 'refused', code: 'port_not_allowed' })
    sends(200)
    expect(await call(`https://${host}:8443/`)).to.include({ kind: 'answered' })
    heard.splice(0)
    expect(heard).to.deep.equal([])
  })

  it('takes no address of a private, local or special network for a public one', () => {
    const inside = [
      '127.0.0.1',
      '10.1.2.3',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
      '169.254.169.254',
      '100.64.0.1',
      '0.0.0.0',
      '224.0.0.1',
      '255.255.255.255',
      '198.18.0.1',
      '192.0.2.1',
      '::',
      '::1',
      '::ffff:10.0.0.1',
      '::ffff:8.8.8.8',
      'fe80::1',
      'fc00::1',
      'fd00:ec2::254',
      '64:ff9b::a00:1',
      '2002:a00:1::',
      '2001::1',
      '2001:db8::1',
      'ff02::1',
      'example.org',
      '',
    ]
    for (const address of inside) expect(isPublicAddress(address), address).to.equal(false)
    for (const address of [
      '8.8.8.8',
      '172.32.0.1',
      '100.128.0.1',
      '192.169.0.1',
      '2606:4700::1111',
      '2a00:1450:4001::1',
    ])
      expect(isPublicAddress(address), address).to.equal(true)
  })

  it('takes neither end of any network of IANA’s special registries for public, nor what embeds an inner address', () => {
    const ends = `
      0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.127.255.255 127.0.0.0 127.255.255.255 169.254.0.0
      169.254.255.255 172.16.0.0 172.31.255.255 192.0.0.0 192.0.0.255 192.0.2.0 192.0.2.255 192.31.196.0
      192.31.196.255 192.52.193.0 192.52.193.255 192.88.99.0 192.88.99.255 192.168.0.0 192.168.255.255 192.175.48.0
      192.175.48.255 198.18.0.0 198.19.255.255 198.51.100.0 198.51.100.255 203.0.113.0 203.0.113.255 224.0.0.0
      239.255.255.255 240.0.0.0 255.255.255.254 2001:: 2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff 2001:db8::
      2001:db8:ffff:ffff:ffff:ffff:ffff:ffff 2002:: 2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff 2620:4f:8000::
      2620:4f:8000:ffff:ffff:ffff:ffff:ffff 3fff:: 3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff
      1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 4000:: 8000:: 100::1 100:0:0:1::1 5f00::1 fec0::1 fe80::1%eth0 200::1
    `
    // Mapped, compatible, translated, NAT64 (also of local use), 6to4 and Teredo, each of 10.0.0.1 and of 8.8.8.8.
    const embedded = ['0a00:0001', '0808:0808'].flatMap((inner) => [
      `::ffff:${inner}`,
      `::${inner}`,
      `::ffff:0:${inner}`,
      `64:ff9b::${inner}`,
      `64:ff9b:1::${inner}`,
      `2002:${inner}::1`,
      `2001:0:4136:e378:8000:63bf:${inner}`,
    ])
    for (const address of [
      ...ends.trim().split(/\s+/),
      ...embedded,
      '010.0.0.1',
      '0x8.8.8.8',
      '8.8.8',
      '134744072',
      '8.8.8.8:80',
    ])
      expect(isPublicAddress(address), address).to.equal(false)
    for (const address of [
      '192.0.1.0',
      '192.31.195.255',
      '198.17.255.255',
      '223.255.255.255',
      '2001:200::',
      '2003::',
      '3ffe::',
    ])
      expect(isPublicAddress(address), address).to.equal(true)
  })

  it('reaches no private network: neither by address nor by a name that leads there', async () => {
    const refused = { kind: 'refused', code: 'address_not_public' }
    for (const url of [
      'https://10.0.0.1/',
      'https://127.1/',
      'https://2130706433/',
      'https://0x7f.1/',
      'https://[::1]/',
      'https://[::ffff:127.0.0.1]/',
    ])
      expect(await call(url), url).to.deep.equal(refused)
    expect(await call('https://localhost/')).to.deep.equal(refused)
    const answers =
      (...addresses: string[]) =>
      () =>
        Promise.resolve(addresses.map((address) => ({ address, family: 4 })))
    expect(await call('https://inside.example/', {}, answers('10.0.0.7'))).to.deep.equal(refused)
    expect(await call('https://both.example/', {}, answers('8.8.8.8', '10.0.0.7'))).to.deep.equal(refused)
    expect(await call('https://none.example/', {}, answers())).to.deep.equal(refused)
  })

  it('connects to the address that it judged: a name is asked once, whatever it would say next', async () => {
    let asked = 0
    // The first is of a block that was never given out: public, and nobody's.
    const turns = () => {
      asked += 1
      return Promise.resolve([asked === 1 ? { address: '2d00::1', family: 6 } : { address: '127.0.0.1', family: 4 }])
    }
    const outcome = await call('https://turning.example/', { timeoutMs: 300 }, turns)
    expect(asked).to.equal(1)
    expect(outcome.kind).to.be.oneOf(['not_sent', 'unknown'])
    expect(await call('https://turning.example/', {}, turns)).to.deep.equal({
      kind: 'refused',
      code: 'address_not_public',
    })
    expect(asked).to.equal(2)
  })

  it('follows a redirect on the same host, and none to another', async () => {
    answer = (request, response) =>
      request.url === '/old' ? response.writeHead(302, { location: '/new' }).end() : response.end('there')
    expect(await call(`https://${host}/old`)).to.deep.include({ kind: 'answered', status: 200 })
    for (const location of [
      'https://10.0.0.1/',
      'https://other.example/',
      `http://${host}/`,
      `https://${host}:8443/`,
      '//other.example/',
    ]) {
      sends(301, { location })
      expect(await call(`https://${host}/`), location).to.deep.equal({ kind: 'refused', code: 'redirect_elsewhere' })
    }
    sends(302, { location: '/round' })
    expect(await call(`https://${host}/round`)).to.deep.equal({ kind: 'refused', code: 'too_many_redirects' })
    heard.splice(0)
    expect(await call(`https://${host}/`, { method: 'POST', body: '{}' })).to.deep.include({
      kind: 'answered',
      status: 302,
    })
    expect(heard).to.deep.equal([`POST ${host}/`])
  })

  it('ends a body that is too long, whether it says so or not', async () => {
    sends(200, { 'content-length': '5000' }, 'x'.repeat(5_000))
    expect(await call(`https://${host}/`)).to.deep.equal({ kind: 'unknown', code: 'too_large' })
    let written = 0
    const closed = new Promise<void>((resolve) => {
      answer = (_, response) => {
        const more = () => {
          while (!response.destroyed && response.write('x'.repeat(500))) written += 500
        }
        response.on('drain', more).on('close', resolve)
        more()
      }
    })
    expect(await call(`https://${host}/endless`)).to.deep.equal({ kind: 'unknown', code: 'too_large' })
    await closed
    expect(written).to.be.greaterThan(0)
  })

  it('keeps the beginning of a long body, and counts all of it', async () => {
    sends(200, {}, 'x'.repeat(900))
    const reply = await call(`https://${host}/`, { keptBytes: 10 })
    expect(reply).to.deep.include({ kind: 'answered', bytes: 900, body: Buffer.from('xxxxxxxxxx') })
  })

  it('ends a call that takes too long: silence, and a body that drips', async () => {
    answer = () => {}
    expect(await call(`https://${host}/`, { timeoutMs: 100 })).to.deep.equal({ kind: 'unknown', code: 'timed_out' })
    answer = (_, response) => {
      const timer = setInterval(() => response.write('.'), 10)
      response.on('close', () => clearInterval(timer))
    }
    expect(await call(`https://${host}/`, { timeoutMs: 200 })).to.deep.equal({ kind: 'unknown', code: 'timed_out' })
    const silent = () => new Promise<never>(() => {})
    expect(await call('https://slow-name.example/', { timeoutMs: 50 }, silent)).to.deep.equal({
      kind: 'unknown',
      code: 'timed_out',
    })
  })

  it('says whether the other side can have heard it', async () => {
    answer = (request) => request.socket.destroy()
    expect(await call(`https://${host}/`)).to.deep.include({ kind: 'unknown', code: 'ECONNRESET' })
    const gone = standIn({ host: 'dead.example', port: 1 })
    expect(await call('https://dead.example/')).to.deep.equal({ kind: 'not_sent', code: 'ECONNREFUSED' })
    gone()
    const lost = () => Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }))
    expect(await call('https://nowhere.example/', {}, lost)).to.deep.equal({ kind: 'not_sent', code: 'ENOTFOUND' })
  })

  it('throws when the caller wants no answer any more', async () => {
    answer = () => {}
    const caller = new AbortController()
    const waiting = call(`https://${host}/`, { signal: caller.signal }).then(
      () => 'answered',
      (error: unknown) => (error instanceof Error ? error.name : 'other'),
    )
    caller.abort()
    expect(await waiting).to.equal('AbortError')
  })
})
