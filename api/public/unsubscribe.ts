import { notFound } from '../../config/errors.ts'
import { Matching, Obj } from '../../config/schema.ts'
import { readUnsubscribe, unsubscribe } from '../../db/ocp/index.ts'
import type { UnsubscribePage } from '../../db/ocp/index.ts'
import { open } from '../lib/access/kinds.ts'
import { Bytes } from '../lib/bytes.ts'
import { route } from '../lib/route.ts'

const path = '/api/public/unsubscribe/:unsubscribeToken' as const
const params = Obj({ unsubscribeToken: Matching('^[A-Za-z0-9_-]{1,200}$', 200) })

type Words = { title: string; ask: string; button: string; done: string }
const words: Record<string, Words> = {
  en: {
    title: 'Unsubscribe',
    ask: 'Do you want no more offers and news from this house at this address?',
    button: 'Unsubscribe',
    done: 'You will get no more offers and news at this address.',
  },
  pt: {
    title: 'Cancelar inscrição',
    ask: 'Você não quer mais receber ofertas e novidades desta casa neste endereço?',
    button: 'Cancelar inscrição',
    done: 'Você não receberá mais ofertas e novidades neste endereço.',
  },
  es: {
    title: 'Darse de baja',
    ask: '¿No quiere recibir más ofertas y novedades de esta casa en esta dirección?',
    button: 'Darse de baja',
    done: 'No recibirá más ofertas ni novedades en esta dirección.',
  },
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => escapes[character] ?? character)

const page = ({ property, locale }: UnsubscribePage, isDone: boolean) => {
  const language = locale?.split('-')[0] ?? 'en'
  const { title, ask, button, done } = words[language] ?? words['en']!
  const body = isDone
    ? `<p role="status">${done}</p>`
    : `<p>${ask}</p><form method="post"><button type="submit">${button}</button></form>`
  return {
    mediaType: 'text/html',
    bytes: `<!doctype html>
<html lang="${words[language] ? language : 'en'}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">
<title>${title}</title>
<style>body{font-family:Helvetica,Arial,sans-serif;max-width:32rem;margin:4rem auto;padding:0 1rem;line-height:1.5;color:#222}button{font:inherit;padding:.6rem 1.2rem}</style></head>
<body><h1>${escaped(property)}</h1>
${body}
</body>
</html>
`,
  }
}

const unknown = () => notFound('There is no such link, or it is too old')

const show = route({
  id: 'public.unsubscribe.show',
  method: 'GET',
  path,
  summary: 'Show the page behind an unsubscribe link',
  description: 'It has one button. Opening it changes nothing, so that scanners of mail unsubscribe nobody.',
  access: open(),
  params,
  transaction: 'none',
  returns: Bytes(['text/html']),
  handle: async ({ params: { unsubscribeToken } }) => {
    const found = await readUnsubscribe(unsubscribeToken)
    if (!found) throw unknown()
    return page(found, false)
  },
})

const end = route({
  id: 'public.unsubscribe.end',
  method: 'POST',
  path,
  summary: 'Unsubscribe an address with one click',
  description:
    'The button of the page, or the one of a mail reader (RFC 8058). The body is ignored. Asked for JSON, it answers `{"unsubscribed": true}`.',
  access: open(),
  // Readers of mail send the clicks of many people from a few addresses.
  rate: 'callback',
  params,
  bodyFormat: 'raw',
  transaction: 'none',
  idempotency: 'off',
  returns: Bytes(['text/html', 'application/json']),
  handle: async ({ params: { unsubscribeToken }, request }) => {
    const found = await unsubscribe(unsubscribeToken, request.id)
    if (!found) throw unknown()
    const wantsJson = /application\/json/.test(request.header('accept') + request.header('content-type'))
    return wantsJson ? { mediaType: 'application/json', bytes: '{"unsubscribed":true}' } : page(found, true)
  },
})

export const routes = [show, end]
