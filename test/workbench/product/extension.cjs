// A product beside the extension, in the workbench: runs the commands of the editor that a test posts to it, one a request,
// and answers with what they came to. It also stands for a host that answers approvals inside the turn, where it is told to.
const { createServer } = require('node:http');
const vscode = require('vscode');

exports.activate = (context) => {
  if (process.env.PRODUCT_HAS_CARDS === '1') {
    context.subscriptions.push(
      vscode.commands.registerCommand('volter.chat.inTurnApprovalCapability', () => ({ version: 1 })),
    );
  }
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    try {
      const { command, args } = JSON.parse(body);
      const result = await vscode.commands.executeCommand(command, ...args);
      response.end(JSON.stringify({ result: result ?? null }));
    } catch (error) {
      response.end(JSON.stringify({ error: error instanceof Error ? error.message : String(error) }));
    }
  });
  const listen = () => server.listen(Number(process.env.PRODUCT_PORT), '127.0.0.1');
  // The extension host before a reload may hold the port for a moment longer.
  server.on('error', () => setTimeout(listen, 200));
  listen();
  context.subscriptions.push({
    dispose: () => {
      server.closeAllConnections();
      server.close();
    },
  });
};
