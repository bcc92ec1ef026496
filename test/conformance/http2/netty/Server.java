import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http2.*;
import io.netty.util.ReferenceCountUtil;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** An HTTP/2 server of Netty without TLS, for the conformance suite: prints its port, and ends with its input. */
public final class Server {
  /** Arguments: streams at once, bytes of the table for the client's headers. */
  public static void main(String[] args) throws Exception {
    var settings =
        Http2Settings.defaultSettings()
            .maxConcurrentStreams(Long.parseLong(args[0]))
            .headerTableSize(Long.parseLong(args[1]));
    var group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    var answers =
        new ChannelInitializer<Channel>() {
          @Override
          protected void initChannel(Channel channel) {
            var codec = Http2FrameCodecBuilder.forServer().initialSettings(settings).build();
            channel.pipeline().addLast(codec, new Answers());
          }
        };
    var bootstrap = new ServerBootstrap().group(group).channel(NioServerSocketChannel.class).childHandler(answers);
    var address = (InetSocketAddress) bootstrap.bind("127.0.0.1", 0).sync().channel().localAddress();
    System.out.println(address.getPort());
    while (System.in.read() >= 0) {}
    System.exit(0);
  }

  private record Request(Http2Headers headers, ByteBuf body) {}

  private static final class Answers extends ChannelInboundHandlerAdapter {
    private final Map<Http2FrameStream, Request> requests = new HashMap<>();

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      if (message instanceof Http2HeadersFrame headers) {
        requests.put(headers.stream(), new Request(headers.headers(), Unpooled.buffer()));
        if (headers.isEndStream()) answer(context, headers.stream());
      } else if (message instanceof Http2DataFrame data) {
        requests.get(data.stream()).body.writeBytes(data.content());
        context.write(new DefaultHttp2WindowUpdateFrame(data.initialFlowControlledBytes()).stream(data.stream()));
        if (data.isEndStream()) answer(context, data.stream());
      } else if (message instanceof Http2ResetFrame reset) {
        requests.remove(reset.stream());
      }
      ReferenceCountUtil.release(message);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
      context.flush();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      context.close();
    }

    /** In two steps: Netty takes DATA of a stream above its last one for an error of the connection. */
    private void leave(ChannelHandlerContext context) {
      context.write(new DefaultHttp2GoAwayFrame(Http2Error.NO_ERROR).setExtraStreamIds(Integer.MAX_VALUE));
      Runnable last = () -> context.writeAndFlush(new DefaultHttp2GoAwayFrame(Http2Error.NO_ERROR));
      context.executor().schedule(last, 100, TimeUnit.MILLISECONDS);
    }

    private void answer(ChannelHandlerContext context, Http2FrameStream stream) {
      var request = requests.remove(stream);
      var asked = request.headers;
      var path = asked.path().toString();
      if (path.equals("/reset") || path.equals("/refuse")) {
        var error = path.equals("/reset") ? Http2Error.INTERNAL_ERROR : Http2Error.REFUSED_STREAM;
        context.write(new DefaultHttp2ResetFrame(error).stream(stream));
        return;
      }
      if (path.equals("/goaway")) leave(context);
      if (path.equals("/hints")) {
        var hints = new DefaultHttp2Headers().status("103").set("link", "</a>");
        context.write(new DefaultHttp2HeadersFrame(hints, false).stream(stream));
      }
      var headers =
          new DefaultHttp2Headers()
              .status("200")
              .set("x-asked", asked.method() + " " + asked.authority() + " " + path)
              .set("x-sent", asked.get("x-sent", ""));
      context.write(new DefaultHttp2HeadersFrame(headers, false).stream(stream));
      var hasTrailers = path.equals("/hints");
      context.write(new DefaultHttp2DataFrame(request.body, !hasTrailers, 7).stream(stream));
      if (!hasTrailers) return;
      var trailers = new DefaultHttp2Headers().set("x-after", "1");
      context.write(new DefaultHttp2HeadersFrame(trailers, true).stream(stream));
    }
  }
}
