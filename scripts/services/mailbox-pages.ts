import type { ReceivedMail } from './mailbox.ts'

const escape = (text: string) =>
  text.replace(/[&<>"]/g, (one) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[one] ?? one)

const style = `body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}
pre{white-space:pre-wrap;font:inherit}pre.raw{font:13px/1.5 ui-monospace,monospace}li{margin:.5rem 0}small{opacity:.75}
form{display:inline}input,button{font:inherit;padding:.2rem .6rem}nav{display:flex;gap:.75rem;flex-wrap:wrap;align-items:center}
iframe{width:100%;height:32rem;border:1px solid #888;background:#fff}th{text-align:left;vertical-align:top;padding-right:1rem;font-weight:600}`

const page = (title: string, body: string, refresh = false) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">${refresh ? '<meta http-equiv="refresh" content="5">' : ''}<title>${escape(title)}</title><style>${style}</style><h1>${escape(title)}</h1>${body}</html>`

const deletion = (path: string, label: string) =>
  `<form method="post" action="${path}/delete"><button>${escape(label)}</button></form>`

/** The list, newest first. It asks for itself anew every five seconds, unless somebody is searching. */
export const listPage = (mails: readonly ReceivedMail[], q: string, kept: number): string =>
  page(
    'Mail of this development service',
    `<nav><form method="get" action="/"><input name="q" value="${escape(q)}" placeholder="Recipient, subject or text" aria-label="Search"> <button>Search</button></form>
${q === '' ? '' : '<a href="/">all mail</a>'}${kept === 0 ? '' : deletion('/messages', `Delete all ${kept}`)}</nav>
${
  mails.length === 0
    ? `<p>${q === '' ? 'Nothing yet.' : 'No mail has these words.'}</p>`
    : `<ul>${mails
        .toReversed()
        .map(
          (mail) =>
            `<li><a href="/messages/${mail.id}">${escape(mail.subject || '(no subject)')}</a><br><small>${escape(mail.to.join(', '))}, ${escape(mail.receivedAt)}</small></li>`,
        )
        .join('')}</ul>`
}`,
    q === '',
  )

/** One mail: its text, its HTML as a browser shows it, and the headers as they came. */
export const mailPage = (mail: ReceivedMail): string =>
  page(
    mail.subject || '(no subject)',
    `<nav><a href="/">all mail</a> ${deletion(`/messages/${mail.id}`, 'Delete')}</nav>
<p><small>from ${escape(mail.from)} to ${escape(mail.to.join(', '))}, ${escape(mail.receivedAt)}</small></p>
<h2>Text</h2><pre>${escape(mail.text)}</pre>
${mail.html === null ? '' : `<h2>HTML</h2><iframe title="HTML part" sandbox src="/messages/${mail.id}/html"></iframe>`}
<h2>Headers</h2><table>${mail.headers.map(({ name, value }) => `<tr><th>${escape(name)}</th><td><pre class="raw">${escape(value)}</pre></td></tr>`).join('')}</table>`,
  )
