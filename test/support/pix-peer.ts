import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { standIn } from '../../config/outgoing-address.ts'

/**
 * A bank that speaks the Pix API of the Central Bank (https://github.com/bacen/pix-api, 2.9): it keeps charges, money and returns, and refuses what the standard
 * refuses. At https://pix.bank.example/v2, its tokens at https://pix.bank.example/oauth/token.
 */
export const bankAddress = {
  baseUrl: 'https://pix.bank.example/v2',
  tokenUrl: 'https://pix.bank.example/oauth/token',
}

type Json = Record<string, unknown>
type Reply = { status: number; body?: unknown }
/** `lost`: it is done, and the answer does not come. `hangs`: nothing is done, and nothing comes. `resets`: nothing is done. */
export type BankFault = 'fails' | 'lost' | 'hangs' | 'resets' | 'busy' | 'malformed' | 'closed' | 'refuses'
export type BankCall = { method: string; path: string; body: Json }

export type BankPix = {
  endToEndId: string
  txid?: string
  valor: string
  chave: string
  horario: string
  infoPagador?: string
  pagador?: Json
  devolucoes: Json[]
}
type Charge = Json & { txid: string; status: string; chave: string; pix: BankPix[] }

const problem = (status: number, type: string, detail: string, violacoes: Json[] = []): Reply => ({
  status,
  body: { type: `https://pix.bcb.gov.br/api/v2/error/${type}`, title: type, status, detail, violacoes },
})
const isMoney = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{1,10}\.\d{2}$/.test(value) && Number(value) > 0
const object = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {})

/** Why the standard refuses the body of a charge; null where it does not. */
const wrongIn = (body: Json, isDated: boolean, keys: ReadonlySet<string>): string | null => {
  const { calendario, valor, devedor, chave, solicitacaoPagador } = body
  const payer = object(devedor)
  if (!isMoney(object(valor)['original'])) return 'valor.original não respeita o schema'
  if (typeof chave !== 'string' || !keys.has(chave)) return 'chave não pertence a este usuário recebedor'
  if (typeof solicitacaoPagador === 'string' && solicitacaoPagador.length > 140) return 'solicitacaoPagador é longo'
  if (isDated && !/^\d{4}-\d{2}-\d{2}$/.test(String(object(calendario)['dataDeVencimento']))) return 'dataDeVencimento'
  if (!isDated && !(Number(object(calendario)['expiracao']) > 0)) return 'calendario.expiracao'
  if (isDated && devedor === undefined) return 'devedor é obrigatório'
  if (devedor !== undefined && (typeof payer['nome'] !== 'string' || !('cpf' in payer || 'cnpj' in payer)))
    return 'devedor não respeita o schema'
  const { multa, juros, desconto } = object(valor)
  for (const part of [multa, juros])
    if (part !== undefined && !/^\d{1,10}\.\d{2}$/.test(String(object(part)['valorPerc']))) return 'valorPerc'
  const days = object(desconto)['descontoDataFixa']
  if (desconto !== undefined && !(Array.isArray(days) && days.length > 0 && days.length <= 3)) return 'descontoDataFixa'
  return null
}

export const startPixBank = async ({
  secret = 'right',
  keys = [],
  tls,
  perPage = 100,
}: { secret?: string; keys?: string[]; tls?: { key: string; cert: string }; perPage?: number } = {}) => {
  const charges = new Map<string, Charge>()
  const money = new Map<string, BankPix>()
  const hooks = new Map<string, string>()
  const tokens = new Set<string>()
  const heard: BankCall[] = []
  const faults: { method: string; part: string; fault: BankFault }[] = []
  const own = new Set(keys)
  const bank = {
    secret,
    heard,
    hooks,
    money,
    charges,
    keys: own,
    /** End of returns: at once, later, or not at all. */
    returns: 'DEVOLVIDO' as 'DEVOLVIDO' | 'EM_PROCESSAMENTO' | 'NAO_REALIZADO',
    /** The next call of that method whose path has that part meets the fault. */
    next: (method: string, part: string, fault: BankFault, times = 1) => {
      for (let count = 0; count < times; count += 1) faults.push({ method, part, fault })
    },
    forgetTokens: () => tokens.clear(),
    /** Money that has come: for a charge, or none. */
    pays: (given: { txid?: string; amount: string; key?: string; at?: Date; text?: string }): string => {
      const at = given.at ?? new Date()
      const endToEndId = `E12345678${at.toISOString().replaceAll(/\D/g, '').slice(0, 12)}${randomUUID().replaceAll('-', '').slice(0, 11)}`
      const charge = given.txid === undefined ? undefined : charges.get(given.txid)
      const pix: BankPix = {
        endToEndId,
        ...(given.txid === undefined ? {} : { txid: given.txid }),
        valor: given.amount,
        chave: given.key ?? charge?.chave ?? keys[0] ?? '',
        horario: at.toISOString(),
        pagador: { cpf: '52998224725', nome: 'Maria Pagadora' },
        ...(given.text === undefined ? {} : { infoPagador: given.text }),
        devolucoes: [],
      }
      money.set(endToEndId, pix)
      if (charge?.status === 'ATIVA') charge.status = 'CONCLUIDA'
      charge?.pix.push(pix)
      return endToEndId
    },
    /** The bank sends money back by itself. */
    takesBack: (endToEndId: string, amount: string) =>
      money.get(endToEndId)?.devolucoes.push({
        id: randomUUID().replaceAll('-', ''),
        rtrId: `D12345678${randomUUID().replaceAll('-', '').slice(0, 23)}`,
        valor: amount,
        natureza: 'MED_FRAUDE',
        horario: { solicitacao: new Date().toISOString() },
        status: 'DEVOLVIDO',
      }),
    stop: () => Promise.resolve(),
  }

  const shown = ({ pix, ...charge }: Charge): Json => ({ ...charge, ...(pix.length > 0 ? { pix } : {}) })
  const made = (txid: string, kind: string, body: Json, revisao: number): Charge => ({
    ...body,
    calendario: { criacao: new Date().toISOString(), ...object(body['calendario']) },
    txid,
    revisao,
    status: 'ATIVA',
    chave: String(body['chave']),
    loc: { id: charges.size + 1, location: `pix.bank.example/qr/v2/${kind}/${txid}`, tipoCob: kind },
    location: `https://pix.bank.example/qr/v2/${kind}/${txid}`,
    pix: [],
  })
  const chargeOf = (kind: string, txid: string, method: string, body: Json): Reply => {
    const known = charges.get(`${kind} ${txid}`)
    if (!/^[a-zA-Z0-9]{26,35}$/.test(txid)) return problem(400, 'CobOperacaoInvalida', 'txid')
    if (method === 'PUT') {
      const wrong = wrongIn(body, kind === 'cobv', own)
      if (wrong !== null) return problem(400, 'CobOperacaoInvalida', 'A cobrança é inválida', [{ razao: wrong }])
      if (known && known.status !== 'ATIVA') return problem(400, 'CobOperacaoInvalida', 'A cobrança não está ATIVA')
      const charge = made(txid, kind, body, known ? Number(known['revisao']) + 1 : 0)
      charges.set(`${kind} ${txid}`, charge)
      charges.set(txid, charge)
      return { status: 201, body: shown(charge) }
    }
    if (!known) return problem(404, 'CobNaoEncontrada', 'Cobrança não encontrada')
    if (method === 'PATCH') {
      if (known.status !== 'ATIVA') return problem(400, 'CobOperacaoInvalida', 'A cobrança não está ATIVA')
      known.status = typeof body['status'] === 'string' ? body['status'] : known.status
    }
    return { status: 200, body: shown(known) }
  }
  const returnOf = (pix: BankPix, id: string, method: string, body: Json): Reply => {
    const known = pix.devolucoes.find((one) => one['id'] === id)
    if (method === 'GET')
      return known ? { status: 200, body: known } : problem(404, 'PixDevolucaoNaoEncontrada', 'Não encontrada')
    if (known) return problem(400, 'PixDevolucaoInvalida', 'O id já foi utilizado')
    const gone = pix.devolucoes.reduce(
      (sum, one) => sum + (one['status'] === 'NAO_REALIZADO' ? 0 : Number(one['valor'])),
      0,
    )
    if (!isMoney(body['valor']) || gone + Number(body['valor']) > Number(pix.valor) + 0.001)
      return problem(400, 'PixDevolucaoInvalida', 'Excede o valor do Pix')
    const made = {
      id,
      rtrId: `D12345678${randomUUID().replaceAll('-', '').slice(0, 23)}`,
      valor: body['valor'],
      horario: { solicitacao: new Date().toISOString() },
      status: bank.returns,
      ...(bank.returns === 'NAO_REALIZADO' ? { motivo: 'Saldo insuficiente' } : {}),
    }
    pix.devolucoes.push(made)
    return { status: 201, body: made }
  }
  const listOf = (query: URLSearchParams): Reply => {
    const [from, to] = [Date.parse(query.get('inicio') ?? ''), Date.parse(query.get('fim') ?? '')]
    if (Number.isNaN(from) || Number.isNaN(to) || to < from)
      return problem(400, 'PixConsultaInvalida', 'inicio e fim são obrigatórios')
    const page = Number(query.get('paginacao.paginaAtual') ?? 0)
    const all = [...money.values()].filter(({ horario }) => Date.parse(horario) >= from && Date.parse(horario) <= to)
    return {
      status: 200,
      body: {
        parametros: {
          inicio: query.get('inicio'),
          fim: query.get('fim'),
          paginacao: {
            paginaAtual: page,
            itensPorPagina: perPage,
            quantidadeDePaginas: Math.max(1, Math.ceil(all.length / perPage)),
            quantidadeTotalDeItens: all.length,
          },
        },
        pix: all.slice(page * perPage, (page + 1) * perPage),
      },
    }
  }
  const serve = (method: string, url: URL, body: Json): Reply => {
    const [, , kind = '', id = '', verb = '', code = ''] = url.pathname.split('/').map(decodeURIComponent)
    if (kind === 'cob' || kind === 'cobv') return chargeOf(kind, id, method, body)
    if (kind === 'webhook' && method === 'PUT') {
      if (!own.has(id)) return problem(404, 'WebhookNaoEncontrado', 'A chave não pertence a este usuário')
      hooks.set(id, String(body['webhookUrl']))
      return { status: 200 }
    }
    if (kind !== 'pix') return problem(404, 'NaoEncontrado', 'Não encontrado')
    if (id === '') return listOf(url.searchParams)
    const pix = money.get(id)
    if (!pix) return problem(404, 'PixNaoEncontrado', 'Pix não encontrado')
    return verb === 'devolucao' ? returnOf(pix, code, method, body) : { status: 200, body: pix }
  }

  const token = (request: IncomingMessage, text: string): Reply => {
    const [, given] = Buffer.from((request.headers.authorization ?? '').replace('Basic ', ''), 'base64')
      .toString()
      .split(':')
    const form = new URLSearchParams(text)
    if (form.get('grant_type') !== 'client_credentials')
      return { status: 400, body: { error: 'unsupported_grant_type' } }
    if (given !== bank.secret) return { status: 401, body: { error: 'invalid_client' } }
    const made = randomUUID()
    tokens.add(made)
    return {
      status: 200,
      body: { access_token: made, token_type: 'Bearer', expires_in: 3_600, scope: form.get('scope') },
    }
  }
  const answer = (request: IncomingMessage, response: ServerResponse, text: string) => {
    const url = new URL(request.url ?? '/', 'https://pix.bank.example')
    const method = request.method ?? 'GET'
    const found = faults.findIndex((one) => one.method === method && url.pathname.includes(one.part))
    const [met] = found < 0 ? [] : faults.splice(found, 1)
    const isToken = url.pathname === '/oauth/token'
    const body = isToken || text === '' ? {} : (JSON.parse(text) as Json)
    heard.push({ method, path: `${url.pathname}${url.search}`, body })
    if (met?.fault === 'hangs') return
    if (met?.fault === 'resets') return void request.socket.destroy()
    const isKnown = tokens.has((request.headers.authorization ?? '').replace('Bearer ', ''))
    const reply = ((): Reply => {
      if (met?.fault === 'fails') return problem(500, 'ErroInternoDoServidor', 'Condição inesperada')
      if (met?.fault === 'closed') return problem(503, 'ServicoIndisponivel', 'Fora da janela')
      if (met?.fault === 'refuses') return problem(400, 'RequisicaoInvalida', 'Requisição inválida')
      if (met?.fault === 'busy') return { status: 429 }
      if (isToken) return token(request, text)
      return isKnown ? serve(method, url, body) : { status: 401 }
    })()
    if (met?.fault === 'lost') return void request.socket.destroy()
    response.writeHead(reply.status, { 'content-type': 'application/json', connection: 'close' })
    response.end(met?.fault === 'malformed' ? '<html>' : reply.body === undefined ? '' : JSON.stringify(reply.body))
  }
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => answer(request, response, Buffer.concat(parts).toString('utf8')))
  }
  // It takes those alone whom the house's own certificate proves.
  const server = tls
    ? createSecureServer({ ...tls, ca: tls.cert, requestCert: true, rejectUnauthorized: true }, listener)
    : createServer(listener)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  const forget = standIn({
    host: 'pix.bank.example',
    port,
    timeoutMs: 400,
    ...(tls ? { ca: tls.cert } : {}),
  })
  bank.stop = () => {
    forget()
    server.closeAllConnections()
    return new Promise((done) => server.close(() => done()))
  }
  return bank
}
export type PixBank = Awaited<ReturnType<typeof startPixBank>>
