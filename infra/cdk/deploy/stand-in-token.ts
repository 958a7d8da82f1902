// Prints a token of the stand-in issuer behind the page at SHOP_URL: stand-in-token.ts USER ROLE
const [user, role] = process.argv.slice(2);
const shop = process.env['SHOP_URL'];
if (shop === undefined) throw new Error('SHOP_URL is not set: `. target/local/up.env` sets it');
const response = await fetch(`${shop}/stand-in/login`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ user, operator: role === 'operator' }),
});
if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
console.log(((await response.json()) as { token: string }).token);
