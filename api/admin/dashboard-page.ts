import { Html, html } from './html.ts'

const style = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{margin:0;min-height:100vh;display:grid;place-items:center}
main{width:min(22rem,calc(100vw - 2rem))}
h1{font-size:1.25rem;margin:0 0 1rem}
label{display:block;margin:.75rem 0 .25rem}
input,button{box-sizing:border-box;width:100%;font:inherit;padding:.6rem;border:1px solid #888;border-radius:.4rem}
button{margin-top:1.25rem;cursor:pointer;background:#1d4ed8;border-color:#1d4ed8;color:#fff}
:focus-visible{outline:3px solid #f59e0b;outline-offset:2px}
a{color:inherit}
.places{margin-top:1.5rem}
[role=alert]{border:1px solid #b91c1c;border-radius:.4rem;padding:.6rem}`

const page = (title: string, body: Html) =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        <style>
          ${new Html(style)}
        </style>
      </head>
      <body>
        <main>${body}</main>
      </body>
    </html> `

/** Style is inline, scripts there are none; the form may only come back to where it was. */
export const pagePolicy =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

/** One sign-in opens both. */
const places = html`<p class="places">
  <a href="/superuser/ops">Operations</a> · <a href="/superuser/dashboard">Bull Board</a>
</p>`

type Form = { action: string; formToken: string; email?: string; problem?: string; needsCode?: boolean }

/** The sign-in form of operators. The password is never written back. */
export const signInPage = ({ action, formToken, email = '', problem, needsCode = false }: Form) =>
  page(
    'Pousada: sign in to operations',
    html`<h1>Pousada: jobs</h1>
      ${problem === undefined ? null : html`<p role="alert" id="problem">${problem}</p>`}
      <form method="post" action="${action}">
        <input type="hidden" name="formToken" value="${formToken}" />
        <label for="email">E-mail</label>
        <input
          id="email"
          name="email"
          type="email"
          autocomplete="username"
          maxlength="254"
          required
          value="${email}"
          ${problem === undefined ? html` autofocus` : html` aria-describedby="problem"`}
        />
        <label for="password">Password</label>
        <input id="password" name="password" type="password" autocomplete="current-password" maxlength="128" required />
        <label for="code">Code of your authenticator${needsCode ? null : ' (where one is set up)'}</label>
        <input
          id="code"
          name="code"
          inputmode="numeric"
          autocomplete="one-time-code"
          maxlength="64"
          ${needsCode && html` required`}
        />
        <button type="submit">Sign in</button>
      </form>
      ${places}`,
  )

/** A page with a message and one link, shown around the board. */
export const messagePage = (title: string, text: string, link: { href: string; label: string }) =>
  page(
    title,
    html`<h1>${title}</h1>
      <p>${text}</p>
      <p><a href="${link.href}">${link.label}</a></p>
      ${places}`,
  )

type SignOut = { action: string; formToken: string; name: string; back: string }

/** Signing out changes something, so it is a form too. */
export const signOutPage = ({ action, formToken, name, back }: SignOut) =>
  page(
    'Pousada: sign out',
    html`<h1>Sign out</h1>
      <p>Signed in as ${name}.</p>
      <form method="post" action="${action}">
        <input type="hidden" name="formToken" value="${formToken}" />
        <button type="submit">Sign out</button>
      </form>
      <p class="places"><a href="${back}">Stay</a></p>`,
  )
